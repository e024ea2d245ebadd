"""The first step of a turn: open its account, and see what the newest message brings and calls up."""

import asyncio

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of, identity_of
from cognition.gauge import filled
from cognition.history import has_content
from cognition.memory.dates import now
from cognition.prompts.echo import within_budget
from cognition.refusal import Refused
from cognition.state import EchoState, Perceived
from cognition.turn import open_turn


async def perceive(state: EchoState, runtime: Runtime[Context]) -> EchoState:
    """Open the turn, and find what the model should see beside the conversation.

    Raises:
        Refused: The newest message is not a user's, or is blank, or the run's user is blank.
    """
    identity = identity_of(runtime)
    context = context_of(runtime)
    services = context.services()
    messages = state.get("messages", [])
    if not messages or not isinstance(messages[-1], HumanMessage) or not has_content(messages[-1]):
        msg = "There is nothing to answer: the newest message must be a user's and not blank."
        raise Refused(msg)
    at = now()
    registry = await services.registry()
    since = state["perceived"]["at"] if "perceived" in state else 0.0
    changed = await asyncio.to_thread(registry.changed_since, identity.user_id, identity.chat_id, since)
    perceived = Perceived(
        memories=await _recalled(messages[-1], runtime),
        files=[],
        events=[resource.id for resource in changed],
        at=at,
        fill=filled(messages, services.settings.context_tokens),
    )
    return {"turn": open_turn(context.policy, services.settings, state.get("turn")), "perceived": perceived}


async def _recalled(message: AnyMessage, runtime: Runtime[Context]) -> list[str]:
    """The ids of the memories that a message calls up, within their budget."""
    context = context_of(runtime)
    services = context.services()
    text = message.text.strip()
    if context.memory == "off" or not services.settings.recall or not text:
        return []
    memory = await services.memory()
    user_id = identity_of(runtime).user_id
    memories = await memory.fetch(user_id, await memory.recall(user_id, text))
    return [memory.memory_id for memory in within_budget(memories)]
