"""The HTTP app that runs alongside the LangGraph API: health, memories, sessions and sub-agents."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from apps.server import agents
from apps.server.guard import json_route, parse_int, server_url, user_of
from apps.server.sessions import close, ingest, sessions, show
from cognition.memory.long_term.listing import delete_memory, list_memories, undo_memory
from cognition.rehearsal import NOTICE
from cognition.services import process_services

logger = logging.getLogger(__name__)


@json_route
async def health(request: Request) -> dict[str, Any]:
    """Return the process id, the home folder and whether the models are rehearsed."""
    services = process_services()
    home = str(services.settings.home)
    return {"status": "ok", "pid": os.getpid(), "home": home, "rehearsed": services.models.rehearsed}


@json_route
async def memories(request: Request) -> dict[str, Any]:
    """List or search a user's memories: see `list_memories`."""
    params = request.query_params
    return await list_memories(
        await process_services().memory(),
        user_of(request),
        query=params.get("query", ""),
        artifact_name=params.get("artifact_name", ""),
        limit=parse_int(params, "limit", 20),
        start_date=params.get("start_date", ""),
        end_date=params.get("end_date", ""),
    )


@json_route
async def delete(request: Request) -> dict[str, Any]:
    """Delete a memory permanently."""
    user, memory_id = user_of(request), request.path_params["memory_id"]
    return await delete_memory(await process_services().memory(), user, memory_id)


@json_route
async def undo(request: Request) -> dict[str, Any]:
    """Restore the text that a memory had before its last change."""
    user, memory_id = user_of(request), request.path_params["memory_id"]
    return await undo_memory(await process_services().memory(), user, memory_id)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Lock the home folder and record the server's URL while it runs. Fail early if a model can't be used."""
    services = process_services()
    await asyncio.to_thread(services.hold, server_url())
    try:
        await asyncio.to_thread(services.models.build_all)
        if services.models.rehearsed:
            logger.warning(NOTICE)
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
        Route("/cognition/sessions", sessions),
        Route("/cognition/sessions/{chat_id}", show),
        Route("/cognition/sessions/{chat_id}", close, methods=["DELETE"]),
        Route("/cognition/sessions/{chat_id}/ingest", ingest, methods=["POST"]),
        Route("/cognition/agents", agents.agents),
        Route("/cognition/agents/{sub_sid}", agents.show),
        Route("/cognition/agents/{sub_sid}", agents.close, methods=["DELETE"]),
        Route("/cognition/agents/{sub_sid}/resume", agents.resume, methods=["POST"]),
    ],
)
