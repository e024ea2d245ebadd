"""The threads of a user's sub-agents over HTTP: see `cognition.delegation.management`."""

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


class Wish(BaseModel):
    """How a sub-agent is to go on."""

    text: str = ""
    """The answer to its question, or a further task; empty to finish what it was cut off at."""
    policy: Policy | None = None
    """The levels that may think; None for those of its newest run."""


@json_route
async def agents(request: Request) -> dict[str, Any]:
    """A user's sub-agents."""
    return await list_agents(process_services(), user_of(request), request.query_params.get("chat_id", ""))


@json_route
async def show(request: Request) -> dict[str, Any]:
    """What was said in a sub-agent's thread."""
    return await show_agent(delegation, process_services(), user_of(request), request.path_params["sub_sid"])


@json_route
async def close(request: Request) -> dict[str, Any]:
    """End a sub-agent and delete its thread."""
    return await close_agent(delegation, process_services(), user_of(request), request.path_params["sub_sid"])


@json_route
async def resume(request: Request) -> StreamingResponse:
    """Let a sub-agent go on; each line of the answer is an event, as it happens, and the last its report."""
    try:
        wish = Wish.model_validate_json(await request.body())
    except ValidationError:
        msg = (
            'How shall it go on? Send {"text": "an answer"}, or {"text": ""} to finish what it was at, and '
            f'if you like a "policy": one of {", ".join(get_args(Policy))}.'
        )
        raise InvalidInput(msg) from None
    user, sub_sid = user_of(request), request.path_params["sub_sid"]
    return StreamingResponse(_events(user, sub_sid, wish), media_type="application/x-ndjson")


async def _events(user: str, sub_sid: str, wish: Wish) -> AsyncIterator[str]:
    """The events as lines; a refusal is one of them, because the answer has begun."""
    try:
        going = resume_agent(delegation, process_services(), user, sub_sid, wish.text, wish.policy)
        async with aclosing(going) as events:
            async for event in events:
                yield f"{json.dumps(event, ensure_ascii=False)}\n"
    except CognitionError as error:
        yield f"{json.dumps({'type': 'error', 'error': str(error)})}\n"
