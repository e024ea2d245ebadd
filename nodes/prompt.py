"""The messages of one model call: the part of the thread that fits, plus this turn's blocks."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of, identity_of
from cognition.ingestion.media import media_block
from cognition.levels import Level
from cognition.messages.context_window import turns_in_prompt
from cognition.messages.history import split_turns
from cognition.prompts.attachments import context_blocks
from cognition.prompts.echo import memories_block, plan_block, system_prompt
from cognition.prompts.environment import MOST_EVENTS, environment_block, events_block
from cognition.state.echo import EchoState
from cognition.storage.files import Files
from cognition.storage.resources import ResourceTable
from cognition.text.language import interface_language

Part = dict[str, Any]
"""A content block of a message."""


async def prompt(state: EchoState, targets: tuple[Level, ...], runtime: Runtime[Context]) -> list[AnyMessage]:
    """Assemble the messages of one call: stable text first, changing text last, which suits prompt caches.

    Args:
        state: The thread, with the results of `perceive`.
        targets: The levels within reach.
        runtime: The run's runtime.
    """
    context = context_of(runtime)
    services = context.services()
    turn, perceived = state["turn"], state["perceived"]
    turns = split_turns(state["messages"])
    kept = turns_in_prompt(turns, services.settings.context_tokens)
    environment = environment_block(
        turn,
        datetime.now().astimezone(),
        number=len(turns),
        fill=perceived["fill"],
        left=len(turns) - len(kept),
        closed=perceived["closed"],
        user_name=context.user_name,
    )
    if files := await _files(perceived["files"], runtime):
        kept[0][0] = _with_parts(kept[0][0], above=files)
    under = [
        await _memories(perceived["memories"], turns[-1][0].text, runtime),
        await _events(perceived["events"], runtime),
    ]
    newest = [*under, plan_block(turn["plan"]), environment]
    kept[-1][0] = with_text(kept[-1][0], "\n\n".join(filter(None, newest)))
    system = system_prompt(turn["level"], may_climb=bool(targets), remembers=context.memory == "on")
    return [SystemMessage(system), *(message for kept_turn in kept for message in kept_turn)]


async def _memories(memory_ids: list[str], newest: str, runtime: Runtime[Context]) -> str:
    if not memory_ids:
        return ""
    memory = await context_of(runtime).services().memory()
    language = await asyncio.to_thread(interface_language, newest)
    return memories_block(await memory.fetch(identity_of(runtime).user_id, memory_ids), language)


async def _events(resource_ids: list[str], runtime: Runtime[Context]) -> str:
    if not resource_ids:
        return ""
    registry = await context_of(runtime).services().registry()
    user_id = identity_of(runtime).user_id
    named = resource_ids[:MOST_EVENTS]
    resources = [await asyncio.to_thread(registry.get, user_id, id_) for id_ in named]
    return events_block([resource for resource in resources if resource], len(resource_ids) - len(named))


async def _files(resource_ids: list[str], runtime: Runtime[Context]) -> list[Part]:
    """Return the chat's files as content blocks: texts and summaries, then media."""
    if not resource_ids:
        return []
    services = context_of(runtime).services()
    registry, user_id = await services.registry(), identity_of(runtime).user_id
    return await asyncio.to_thread(_file_parts, resource_ids, user_id, registry, services.files)


def _file_parts(resource_ids: list[str], user_id: str, registry: ResourceTable, files: Files) -> list[Part]:
    resources = [resource for id_ in resource_ids if (resource := registry.get(user_id, id_))]
    texts: dict[str, str] = {}
    media: list[Part] = []
    for resource in resources:
        if resource.status != "PUT_IN_CONTEXT":
            continue
        if (place := files.text(resource)).exists():
            texts[resource.id] = place.read_text(encoding="utf-8")
        else:
            media.append(media_block(resource, files.original(resource).read_bytes()))
    blocks = context_blocks(resources, texts)
    return [*([{"type": "text", "text": blocks}] if blocks else []), *media]


def with_text(message: AnyMessage, text: str) -> AnyMessage:
    """Return a copy of a user's message with text below its content."""
    return _with_parts(message, below=[{"type": "text", "text": text}])


def _with_parts(message: AnyMessage, *, above: Sequence[Part] = (), below: Sequence[Part] = ()) -> AnyMessage:
    content = cast("str | list[Any]", message.content)
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return HumanMessage([*above, *parts, *below], id=message.id)
