"""Gemini's REST API as an ASGI application."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

import orjson
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from cognition.rehearsal import replies
from cognition.rehearsal.refusals import Refusal, check_key, check_model, check_request
from cognition.rehearsal.script import Reply, Request

METHODS = ("generateContent", "streamGenerateContent", "countTokens")
"""The supported methods of a model."""


class Player(Protocol):
    """The source of replies, which also records requests."""

    models: list[str]

    def reply(self, request: Request) -> Reply:
        """Return the reply to a valid request."""

    def record_refusal(self, request: Request, refusal: Refusal) -> None:
        """Record a rejected request."""


def build_app(player: Player) -> Starlette:
    """Build the application, under the paths of v1 and v1beta."""

    async def list_models(http: HttpRequest) -> Response:
        return _json({"models": [_model(name) for name in player.models]})

    async def get_model(http: HttpRequest) -> Response:
        check_model(http.path_params["model"])
        return _json(_model(http.path_params["model"]))

    async def call_model(http: HttpRequest) -> Response:
        model, _, method = http.path_params["call"].partition(":")
        check_model(model)
        if method not in METHODS:
            raise Refusal(404, "NOT_FOUND", f"The method {method!r} is not found.")
        request = _checked(player, model, method, _parse(await http.body()))
        if method == "countTokens":
            return _json({"totalTokens": replies.count_tokens(request.body)})
        return await _respond(request, player.reply(request))

    return Starlette(
        routes=[
            route
            for version in ("v1", "v1beta")
            for route in (
                Route(f"/{version}/models", _with_errors(list_models)),
                Route(f"/{version}/models/{{model}}", _with_errors(get_model)),
                Route(f"/{version}/models/{{call:path}}", _with_errors(call_model), methods=["POST"]),
            )
        ]
    )


def _parse(body: bytes) -> dict[str, Any]:
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        payload = None
    if not isinstance(payload, dict):
        raise Refusal(400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
    return payload


def _checked(player: Player, model: str, method: str, body: dict[str, Any]) -> Request:
    try:
        return Request(model, method, body, check_request(model, body))
    except Refusal as refusal:
        player.record_refusal(Request(model, method, body), refusal)
        raise


async def _respond(request: Request, reply: Reply) -> Response:
    await asyncio.sleep(reply.latency)
    if refusal := replies.refusal_of(reply):
        raise refusal
    if request.method == "streamGenerateContent":
        return StreamingResponse(_stream(request, reply), media_type="text/event-stream")
    if reply.failure in ("stall", "drop"):
        return StreamingResponse(_broken(reply), media_type="application/json")
    return _json(replies.response(request, reply))


def _with_errors(
    endpoint: Callable[[HttpRequest], Awaitable[Response]],
) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def respond(http: HttpRequest) -> Response:
        try:
            check_key(http.headers.get("x-goog-api-key"))
            return await endpoint(http)
        except Refusal as refusal:
            return _json(refusal.body(), refusal.code)

    return respond


async def _stream(request: Request, reply: Reply) -> AsyncIterator[bytes]:
    for body in replies.events(request, reply):
        yield b"data: " + orjson.dumps(body) + b"\r\n\r\n"
        await asyncio.sleep(0)
    await _fail(reply)


async def _broken(reply: Reply) -> AsyncIterator[bytes]:
    yield b"{"
    await _fail(reply)


async def _fail(reply: Reply) -> None:
    """Send nothing until the client or the server disconnects, or break the connection, as scripted."""
    if reply.failure == "stall":
        await asyncio.Event().wait()
    if reply.failure == "drop":
        raise ConnectionResetError


def _model(name: str) -> dict[str, Any]:
    return {
        "name": f"models/{name}",
        "displayName": name,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


def _json(body: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(body), status, media_type="application/json")
