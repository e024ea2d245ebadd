"""Request handling shared by the routes: access control, query parameters and JSON errors."""

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
    """Wrap an endpoint: return its result and its errors as JSON, and reject cross-site requests."""

    @wraps(endpoint)
    async def answer(request: Request) -> Response:
        if _is_cross_site(request):
            msg = (
                "Cross-site request rejected: call the server from its own machine, under its own host name, "
                "and not from a page of another site."
            )
            return JSONResponse({"error": msg}, 403)
        try:
            result = await endpoint(request)
            return result if isinstance(result, Response) else JSONResponse(result)
        except InvalidInput as error:
            return JSONResponse({"error": str(error)}, 400)
        except CognitionError as error:
            return JSONResponse({"error": str(error)}, 503)

    return answer


def _is_cross_site(request: Request) -> bool:
    """Return whether a page of another site sent the request, possibly by DNS rebinding."""
    own_hosts = (*LOOPBACK, urlsplit(server_url()).hostname)
    origin = request.headers.get("origin")
    if request.url.hostname not in own_hosts:
        return True
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


def user_of(request: Request) -> str:
    """Return the user that a request names.

    Raises:
        InvalidInput: If the user is missing or blank.
    """
    user = request.query_params.get("user_id", "")
    if not user.strip():
        msg = f"Invalid user {user!r}: expected a user_id that is not blank."
        raise InvalidInput(msg)
    return user


def parse_int(params: QueryParams, name: str, default: int) -> int:
    """Return a query parameter as an integer, or the default if it is missing.

    Raises:
        InvalidInput: If the value is not an integer.
    """
    text = params.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        msg = f"Invalid {name} {short_repr(text)}: expected an integer."
        raise InvalidInput(msg) from None


def server_url() -> str:
    """Return the URL of the LangGraph server in this process, which sets it in the environment."""
    return os.environ.get("LANGGRAPH_API_URL", "")
