"""The client of the models: requests, retries, time limits and failures."""

import asyncio
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast

import pytest
from langchain_core.messages import HumanMessage

from cognition.models import retry as retrying
from cognition.models.outcome import Answer, Failure
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.rehearsal.refusals import Refusal
from cognition.services import Services
from tests.conftest import FLASH, LITE, PRO

PICTURE = {"type": "image", "base64": "QUJD", "mime_type": "image/png"}


@pytest.mark.parametrize("part", [PICTURE, {"type": "hologram"}], ids=["provider", "client"])
async def test_p4_a_rejected_picture_is_replaced_by_a_text(
    part: Any, rehearsal: RehearsalServer, services: Services
) -> None:
    def refuse_pictures(request: Request) -> Reply:
        if "inlineData" in str(request.body):
            raise Refusal(400, "INVALID_ARGUMENT", "Unable to process input image.")
        return Reply(text="I can't see it.")

    rehearsal.script(LITE, refuse_pictures)
    shown = HumanMessage([{"type": "text", "text": "Look."}, part])
    outcome = await services.models.call("MODEL_LITE", [shown])
    assert isinstance(outcome, Answer)
    assert outcome.text == "I can't see it."
    assert "could not be read" in rehearsal.requests[-1].texts[-1]
    assert shown.content[1] == part


async def test_p9_a_rejected_request_is_not_repeated(rehearsal: RehearsalServer, services: Services) -> None:
    def refuse(request: Request) -> Reply:
        raise Refusal(400, "INVALID_ARGUMENT", "No.")

    rehearsal.script(PRO, refuse)
    outcome = await services.models.call("MODEL_PRO", [HumanMessage("Hi")], fall_back=True)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.role) == ("refused", "MODEL_PRO")
    assert len(rehearsal.requests) == 1


async def test_p77_zero_seconds_left_does_not_mean_no_limit(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(PRO, [Reply(text="Too late.")])
    events: list[dict[str, Any]] = []
    outcome = await services.models.call(
        "MODEL_PRO", [HumanMessage("Hi")], fall_back=True, seconds=0, notify=events.append
    )
    assert isinstance(outcome, Failure)
    assert outcome.kind == "unavailable"
    assert events == []
    assert rehearsal.requests == []


async def test_fall_backs_share_the_time_of_the_call(rehearsal: RehearsalServer, services: Services) -> None:
    for model in (PRO, FLASH, LITE):
        rehearsal.script(model, [Reply(text="Late.", latency=5)])
    await asyncio.to_thread(services.models.build_all)  # outside of the measured time
    outcome = await services.models.call("MODEL_PRO", [HumanMessage("Hi")], fall_back=True, seconds=0.3)
    assert isinstance(outcome, Failure)
    assert outcome.seconds < 2
    assert {request.model for request in rehearsal.requests} == {PRO}


class Proxy(BaseHTTPRequestHandler):
    """Return the configured answer, like proxies that don't follow Gemini's protocol."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        status, headers, body = cast("Any", self.server).answer
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


JSON = {"content-type": "application/json"}
RETRY_LATER = b'{"error": {"details": [{"@type": "google.rpc.RetryInfo", "retryDelay": "1m"}]}}'


@pytest.mark.parametrize(
    "answer",
    [
        (200, {"content-type": "text/html"}, b"<html>Sign in to the hotel's network</html>"),
        (503, {"content-type": "text/html"}, b"<p>Down for maintenance.</p>" * 3_000),
        (200, JSON, b'{"candidates": ['),
        (200, JSON, b'{"candidates": [{"content": {"parts": "x"}}]}'),
        (200, {**JSON, "content-encoding": "gzip"}, b"this is no gzip"),
        (302, {"location": "/elsewhere"}, b""),
        (429, JSON, RETRY_LATER),
        (429, JSON, b'{"error": {"details": null}}'),
        (429, JSON, b'{"error": "busy"}'),
    ],
    ids=["page", "long", "cut", "parts", "gzip", "moved", "minutes", "null", "text"],
)
async def test_p20_an_invalid_response_is_a_failure_and_not_an_exception(
    answer: Any, make_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrying, "ATTEMPTS", 1)
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        cast("Any", server).answer = answer
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        services = Services(make_settings(GOOGLE_API_KEY="key", GOOGLE_GEMINI_BASE_URL=url))
        outcome = await services.models.call("MODEL_LITE", [HumanMessage("Hello.")])
        await services.aclose()
        server.shutdown()
    assert isinstance(outcome, Failure)
    assert outcome.kind == "unavailable"
    assert outcome.sentence.startswith("google_genai:")
    assert len(outcome.sentence) < 600
