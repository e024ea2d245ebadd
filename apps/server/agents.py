"""HTTP endpoints for a user's sub-agents: see `cognition.delegation.management`."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import StreamingResponse

from apps.server.guard import json_route, user_of
from cognition.delegation.management import close_agent, list_agents, resume_agent, show_agent
from cognition.errors import CognitionError, InvalidInput
from cognition.levels import Policy
from cognition.services import process_services
from graphs.delegation import graph as delegation


class ResumeRequest(BaseModel):
    """The body of a request to resume a sub-agent."""

    text: str = ""
    """The answer to its question, or a new task; empty to finish an interrupted task."""
    policy: Policy | None = None
    """The levels it may use; None to keep those of its latest run."""


@json_route
async def agents(request: Request) -> dict[str, Any]:
    """List a user's sub-agents."""
    return await list_agents(process_services(), user_of(request), request.query_params.get("chat_id", ""))


@json_route
async def show(request: Request) -> dict[str, Any]:
    """Return a sub-agent with the messages of its thread."""
    return await show_agent(delegation, process_services(), user_of(request), request.path_params["sub_sid"])


@json_route
async def close(request: Request) -> dict[str, Any]:
    """Close a sub-agent and delete its thread."""
    return await close_agent(delegation, process_services(), user_of(request), request.path_params["sub_sid"])


@json_route
async def resume(request: Request) -> StreamingResponse:
    """Resume a sub-agent. The response has one event per line, sent as it happens; the last is the report."""
    try:
        body = ResumeRequest.model_validate_json(await request.body())
    except ValidationError:
        msg = (
            'Invalid request body: send {"text": "an answer"}, or {"text": ""} to finish an interrupted '
            f'task. Optionally add a "policy": one of {", ".join(get_args(Policy))}.'
        )
        raise InvalidInput(msg) from None
    user, sub_sid = user_of(request), request.path_params["sub_sid"]
    return StreamingResponse(_events(user, sub_sid, body), media_type="application/x-ndjson")


async def _events(user: str, sub_sid: str, body: ResumeRequest) -> AsyncIterator[str]:
    """Yield events as JSON lines. An error is an event too, because the response has already started."""
    try:
        run = resume_agent(delegation, process_services(), user, sub_sid, body.text, body.policy)
        async with aclosing(run) as events:
            async for event in events:
                yield f"{json.dumps(event, ensure_ascii=False)}\n"
    except CognitionError as error:
        yield f"{json.dumps({'type': 'error', 'error': str(error)})}\n"
