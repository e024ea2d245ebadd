"""What the routes share: who may call them, for which user, and how refusals are told."""

import os
from collections.abc import Awaitable, Callable
from functools import wraps
from reprlib import repr as short_repr
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cognition.errors import CognitionError, InvalidInput

LOOPBACK = ("127.0.0.1", "localhost", "::1")

Endpoint = Callable[[Request], Awaitable[dict[str, Any] | Response]]


def json_route(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """A route whose refusals are JSON, and which no page of another site can call."""

    @wraps(endpoint)
    async def answer(request: Request) -> Response:
        if _is_foreign(request):
            return JSONResponse({"error": "Call this from the machine of the server, by its own name."}, 403)
        try:
            told = await endpoint(request)
            return told if isinstance(told, Response) else JSONResponse(told)
        except InvalidInput as error:
            return JSONResponse({"error": str(error)}, 400)
        except CognitionError as error:
            return JSONResponse({"error": str(error)}, 503)

    return answer


def _is_foreign(request: Request) -> bool:
    """Whether a page of another site sends this, or a name that only pretends to be this machine's."""
    own = (*LOOPBACK, urlsplit(server_url()).hostname)
    origin = request.headers.get("origin")
    if request.url.hostname not in own:
        return True
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


def user_of(request: Request) -> str:
    """The user that a request is for.

    Raises:
        InvalidInput: It is blank.
    """
    user = request.query_params.get("user_id", "")
    if not user.strip():
        msg = f"The user {user!r} is blank: pass user_id."
        raise InvalidInput(msg)
    return user


def parse_int(asked: QueryParams, name: str, default: int) -> int:
    """A whole number that a query names.

    Raises:
        InvalidInput: It is none.
    """
    text = asked.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        msg = f"{name} {short_repr(text)} is no whole number."
        raise InvalidInput(msg) from None


def server_url() -> str:
    """Where the LangGraph server of this process answers, as it tells its own parts."""
    return os.environ.get("LANGGRAPH_API_URL", "")
