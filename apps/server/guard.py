"""What the routes share: who may call them, for which user, and how refusals are told."""

import os
from collections.abc import Awaitable, Callable
from functools import wraps
from reprlib import repr as brief
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cognition.embedding import EmbeddingUnavailable
from cognition.errors import Refused
from cognition.storage.disk.folder_lock import FolderInUse
from cognition.storage.disk.free_space import DiskFull
from cognition.vectors import Damaged, StampMismatch

LOOPBACK = ("127.0.0.1", "localhost", "::1")
UNAVAILABLE = (EmbeddingUnavailable, StampMismatch, Damaged, DiskFull, FolderInUse)
REFUSALS = (Refused, *UNAVAILABLE)
"""What is told in a sentence; anything else is a fault of the program."""

Endpoint = Callable[[Request], Awaitable[dict[str, Any] | Response]]


def answered(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """A route whose refusals are JSON, and which no page of another site can call."""

    @wraps(endpoint)
    async def answer(request: Request) -> Response:
        if _is_foreign(request):
            return JSONResponse({"error": "Call this from the machine of the server, by its own name."}, 403)
        try:
            told = await endpoint(request)
            return told if isinstance(told, Response) else JSONResponse(told)
        except Refused as error:
            return JSONResponse({"error": str(error)}, 400)
        except UNAVAILABLE as error:
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
        Refused: It is blank.
    """
    user = request.query_params.get("user_id", "")
    if not user.strip():
        msg = f"The user {user!r} is blank: pass user_id."
        raise Refused(msg)
    return user


def whole(asked: QueryParams, name: str, default: int) -> int:
    """A whole number that a query names.

    Raises:
        Refused: It is none.
    """
    text = asked.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        msg = f"{name} {brief(text)} is no whole number."
        raise Refused(msg) from None


def server_url() -> str:
    """Where the LangGraph server of this process answers, as it tells its own parts."""
    return os.environ.get("LANGGRAPH_API_URL", "")
