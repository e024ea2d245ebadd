"""Commands that use a failing server."""

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from cognition.storage.disk.folder_lock import FolderLock
from tests.unit.apps.cli.conftest import Run


class Failing(BaseHTTPRequestHandler):
    """A server whose health check succeeds and whose other requests fail."""

    gone = False

    def do_GET(self) -> None:
        """Answer the health check; fail otherwise."""
        if self.path == "/cognition/health":
            self._answer(200, {"pid": os.getpid(), "rehearsed": True})
        elif self.gone:
            self.close_connection = True
        else:
            self._answer(500, {"detail": "internal error"})

    do_POST = do_DELETE = do_GET  # names required by the base class

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _answer(self, status: int, payload: dict[str, object]) -> None:
        body = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def _holding(tmp_path: Path) -> Iterator[None]:
    """Run a server that holds the test's home folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    with FolderLock(tmp_path / "home", f"http://127.0.0.1:{server.server_port}"):
        yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("_holding")
@pytest.mark.parametrize(("gone", "problem"), [(False, "error (500)"), (True, "did not respond")])
@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "list"),
        ("agents", "resume", "dlg_1", "Go on"),
        ("ask", "hello"),
        ("council", "Split?", "--participants", "architect,coach"),
    ],
)
def test_a_failing_server_is_reported_in_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], gone: bool, problem: str
) -> None:
    monkeypatch.setattr(Failing, "gone", gone)
    completed = run(*command)
    assert (completed.exit_code, completed.stdout) == (1, "")
    assert completed.stderr.startswith("The server that holds the home folder ")
    assert problem in completed.stderr
    assert completed.stderr.count("\n") == 1


@pytest.mark.usefixtures("_holding")
def test_a_chat_continues_after_a_failed_turn(run: Run) -> None:
    completed = run("chat", stdin=b"hello\nhello again\n/help\n")
    assert completed.exit_code == 1
    assert completed.stderr.count("The server that holds the home folder returned an error (500): ") == 2
    assert "/policy" in completed.stderr
