"""Commands through a server that fails."""

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
    """Answers that it is well, and nothing else."""

    gone = False

    def do_GET(self) -> None:
        """Tell who serves, or fail."""
        if self.path == "/cognition/health":
            self._answer(200, {"pid": os.getpid(), "rehearsed": True})
        elif self.gone:
            self.close_connection = True
        else:
            self._answer(500, {"detail": "a fault of the program"})

    do_POST = do_DELETE = do_GET  # the names that the library calls

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def _answer(self, status: int, told: dict[str, object]) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def _holding(tmp_path: Path) -> Iterator[None]:
    """A server that holds the test's folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    with FolderLock(tmp_path / "home", f"http://127.0.0.1:{server.server_port}"):
        yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("_holding")
@pytest.mark.parametrize(("gone", "told"), [(False, "500"), (True, "went away")])
@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "list"),
        ("agents", "resume", "dlg_1", "Go on"),
        ("ask", "hello"),
        ("council", "Split?", "--participants", "architect,coach"),
    ],
)
def test_a_server_that_fails_is_told_in_a_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], gone: bool, told: str
) -> None:
    monkeypatch.setattr(Failing, "gone", gone)
    ran = run(*command)
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr.startswith("The server that holds the folder ")
    assert told in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.usefixtures("_holding")
def test_a_chat_outlives_a_turn_that_its_server_fails_at(run: Run) -> None:
    ran = run("chat", stdin=b"hello\nhello again\n/help\n")
    assert ran.exit_code == 1
    assert ran.stderr.count("The server that holds the folder answered 500: ") == 2
    assert "/policy" in ran.stderr
