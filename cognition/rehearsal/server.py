"""The rehearsal server on the loopback interface, for tests with scripts and for use without a key."""

import atexit
import socket
from collections.abc import Mapping
from functools import cache
from threading import Lock, Thread
from typing import Final, Self

import uvicorn

from cognition.rehearsal.app import build_app
from cognition.rehearsal.refusals import Refusal
from cognition.rehearsal.responder import respond
from cognition.rehearsal.script import Reply, Request, Script

KEPT_REQUESTS: Final = 100
"""Number of requests a keyless server keeps; it may run for days, and each holds a whole conversation."""


class RehearsalServer:
    """A rehearsal server in a thread of this process; also a context manager.

    Args:
        scripts: The script of each model. If None, the keyless responder answers for all models; otherwise a
            call of a model without a script fails, so that no test passes by accident.
    """

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        self._scripts = None if scripts is None else dict(scripts)
        self._played: dict[str, int] = {}
        self._lock = Lock()
        self.models = list(scripts or ("gemini-3.5-flash-lite", "gemini-3.8-flash", "gemini-3.1-pro-preview"))
        self.requests: list[Request] = []
        """The accepted requests, oldest first."""
        self.refusals: list[tuple[Request, Refusal]] = []
        """The rejected requests with their errors."""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            build_app(self), log_level="critical", access_log=False, lifespan="off", ws="none"
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],), name="rehearsal", daemon=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start serving. Connections queue from the moment of construction."""
        self._thread.start()

    def stop(self) -> None:
        """Stop immediately, even during stalled replies."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._socket.close()

    def script(self, model: str, script: Script) -> None:
        """Replace the script of a model."""
        with self._lock:
            self._scripts = {**(self._scripts or {}), model: script}
            self._played[model] = 0

    def reply(self, request: Request) -> Reply:
        """Return the next reply of the model's script."""
        with self._lock:
            self.requests.append(request)
            if self._scripts is None:
                del self.requests[:-KEPT_REQUESTS]
                return respond(request)
            script = self._scripts.get(request.model)
            if script is None:
                raise Refusal(
                    400, "FAILED_PRECONDITION", f"The rehearsal server has no script for {request.model}."
                )
            if callable(script):
                return script(request)
            played = self._played.get(request.model, 0)
            self._played[request.model] = played + 1
            return script[min(played, len(script) - 1)]

    def record_refusal(self, request: Request, refusal: Refusal) -> None:
        """Record a rejected request."""
        with self._lock:
            self.refusals.append((request, refusal))


@cache
def rehearsal_url() -> str:
    """Return the URL of the process's keyless rehearsal server; start it at the first call."""
    server = RehearsalServer()
    server.start()
    atexit.register(server.stop)  # an event loop that runs during interpreter shutdown can crash it
    return server.url
