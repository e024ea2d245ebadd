"""The HTTP app beside the LangGraph server: health, and the memories for whoever shares the folder."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from reprlib import repr as brief
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cognition.embedding import EmbeddingUnavailable
from cognition.memory.catalogue import delete_memory, list_memories, undo_memory
from cognition.memory.engine import StampMismatch
from cognition.refusal import Refused
from cognition.services import process_services
from cognition.storage.folder import FolderInUse

LOOPBACK = ("127.0.0.1", "localhost", "::1")

Endpoint = Callable[[Request], Awaitable[dict[str, Any]]]


def _answered(endpoint: Endpoint) -> Callable[[Request], Awaitable[JSONResponse]]:
    """A route whose refusals are JSON, and which no page of another site can call."""

    @wraps(endpoint)
    async def answer(request: Request) -> JSONResponse:
        if _is_foreign(request):
            return JSONResponse({"error": "Call this from the machine of the server, by its own name."}, 403)
        try:
            return JSONResponse(await endpoint(request))
        except Refused as error:
            return JSONResponse({"error": str(error)}, 400)
        except (EmbeddingUnavailable, StampMismatch, FolderInUse) as error:
            return JSONResponse({"error": str(error)}, 503)

    return answer


def _is_foreign(request: Request) -> bool:
    """Whether a page of another site sends this, or a name that only pretends to be this machine's."""
    own = (*LOOPBACK, urlsplit(server_url()).hostname)
    origin = request.headers.get("origin")
    if request.url.hostname not in own:
        return True
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


@_answered
async def health(request: Request) -> dict[str, Any]:
    """Who serves, and over which folder."""
    services = process_services()
    home = str(services.settings.home)
    return {"status": "ok", "pid": os.getpid(), "home": home, "rehearsed": services.models.rehearsed}


@_answered
async def memories(request: Request) -> dict[str, Any]:
    """A user's memories: see `list_memories`."""
    asked = request.query_params
    return await list_memories(
        await process_services().memory(),
        _user(request),
        query=asked.get("query", ""),
        artifact_name=asked.get("artifact_name", ""),
        limit=_whole(asked, "limit", 20),
        start_date=asked.get("start_date", ""),
        end_date=asked.get("end_date", ""),
    )


@_answered
async def delete(request: Request) -> dict[str, Any]:
    """Delete a memory for good."""
    user, memory_id = _user(request), request.path_params["memory_id"]
    return await delete_memory(await process_services().memory(), user, memory_id)


@_answered
async def undo(request: Request) -> dict[str, Any]:
    """Bring back the text that a memory had before its last change."""
    user, memory_id = _user(request), request.path_params["memory_id"]
    return await undo_memory(await process_services().memory(), user, memory_id)


def _user(request: Request) -> str:
    user = request.query_params.get("user_id", "")
    if not user.strip():
        msg = f"The user {user!r} is blank: pass user_id."
        raise Refused(msg)
    return user


def _whole(asked: QueryParams, name: str, default: int) -> int:
    """A whole number that a query names."""
    text = asked.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        msg = f"{name} {brief(text)} is no whole number."
        raise Refused(msg) from None


def server_url() -> str:
    """Where the LangGraph server of this process answers, as it tells its own parts."""
    return os.environ.get("LANGGRAPH_API_URL", "")


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Hold the folder while the server runs, and say where. A model that can't be used stops the start."""
    services = process_services()
    await asyncio.to_thread(services.hold, server_url())
    try:
        await asyncio.to_thread(services.models.build_all)
        yield
    finally:
        await services.aclose()


app = Starlette(
    lifespan=lifespan,
    routes=[
        Route("/cognition/health", health),
        Route("/cognition/memory", memories),
        Route("/cognition/memory/{memory_id:path}/undo", undo, methods=["POST"]),
        Route("/cognition/memory/{memory_id:path}", delete, methods=["DELETE"]),
    ],
)
