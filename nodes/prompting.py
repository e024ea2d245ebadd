"""What a level is shown: the thread that fits, and this turn's blocks around it; the thread keeps none."""

import asyncio
from datetime import datetime
from typing import Any, cast

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of, identity_of
from cognition.gauge import TRIMMED_FROM
from cognition.history import split_turns, trim_turns
from cognition.levels import Level
from cognition.prompts.echo import memories_block, plan_block, system_prompt
from cognition.prompts.environment import environment_block, events_block
from cognition.state import EchoState


async def prompt(state: EchoState, targets: tuple[Level, ...], runtime: Runtime[Context]) -> list[AnyMessage]:
    """The messages of one call: stable text first and what changes last, which keeps prompt caches warm.

    Args:
        state: The thread and what `perceive` found.
        targets: The levels that can be reached from here.
        runtime: The run's.
    """
    context = context_of(runtime)
    services = context.services()
    turn, perceived = state["turn"], state["perceived"]
    turns = split_turns(state["messages"])
    kept = trim_turns(turns, int(services.settings.context_tokens * TRIMMED_FROM))
    environment = environment_block(
        turn,
        datetime.now().astimezone(),
        number=len(turns),
        fill=perceived["fill"],
        left=len(turns) - len(kept),
        user_name=context.user_name,
    )
    under = [await _memories(perceived["memories"], runtime), await _events(perceived["events"], runtime)]
    newest = [*under, plan_block(turn["plan"]), environment]
    kept[-1][0] = with_text(kept[-1][0], "\n\n".join(filter(None, newest)))
    system = system_prompt(turn["level"], may_climb=bool(targets), remembers=context.memory == "on")
    return [SystemMessage(system), *(message for kept_turn in kept for message in kept_turn)]


async def _memories(memory_ids: list[str], runtime: Runtime[Context]) -> str:
    if not memory_ids:
        return ""
    memory = await context_of(runtime).services().memory()
    return memories_block(await memory.fetch(identity_of(runtime).user_id, memory_ids))


async def _events(resource_ids: list[str], runtime: Runtime[Context]) -> str:
    if not resource_ids:
        return ""
    registry = await context_of(runtime).services().registry()
    user_id = identity_of(runtime).user_id
    found = [await asyncio.to_thread(registry.get, user_id, id_) for id_ in resource_ids]
    return events_block([resource for resource in found if resource])


def with_text(message: AnyMessage, text: str) -> HumanMessage:
    """A copy of a user's message with text under what it says."""
    content = cast("str | list[Any]", message.content)
    parts = [content] if isinstance(content, str) else list(content)
    return HumanMessage([*parts, {"type": "text", "text": text}], id=message.id)
