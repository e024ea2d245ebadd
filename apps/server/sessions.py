"""HTTP endpoints for a user's sessions: see `cognition.sessions`."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from apps.server.guard import json_route, user_of
from cognition.errors import CognitionError, InvalidInput
from cognition.ingestion.batch import ingest_batch
from cognition.services import process_services
from cognition.sessions import close_session, list_sessions, show_session
from graphs.ingestion import graph as ingestion


@json_route
async def sessions(request: Request) -> dict[str, Any]:
    """List a user's sessions."""
    return await list_sessions(process_services(), user_of(request))


@json_route
async def show(request: Request) -> dict[str, Any]:
    """Return the contents of a session."""
    return await show_session(process_services(), user_of(request), request.path_params["chat_id"])


@json_route
async def close(request: Request) -> dict[str, Any]:
    """Close a session and delete its contents."""
    return await close_session(process_services(), user_of(request), request.path_params["chat_id"])


@json_route
async def ingest(request: Request) -> StreamingResponse:
    """Ingest registered resources. The response has one event per line, sent as it happens."""
    user, chat = user_of(request), request.path_params["chat_id"]
    try:
        ids = (await request.json())["resources"]
    except (ValueError, KeyError, TypeError):
        ids = None
    if not isinstance(ids, list) or not all(isinstance(id_, str) for id_ in ids):
        msg = 'Invalid request body: send {"resources": ["an id", "another"]}.'
        raise InvalidInput(msg)
    return StreamingResponse(_events(user, chat, ids), media_type="application/x-ndjson")


async def _events(user: str, chat: str, ids: list[str]) -> AsyncIterator[str]:
    """Yield events as JSON lines. An error is an event too, because the response has already started."""
    try:
        async with aclosing(ingest_batch(ingestion, process_services(), user, chat, ids)) as events:
            async for event in events:
                yield f"{json.dumps(event, ensure_ascii=False)}\n"
    except CognitionError as error:
        yield f"{json.dumps({'type': 'error', 'error': str(error)})}\n"
