"""The first step of a turn: open its account, take in files, recall memories."""

import asyncio
from collections.abc import Iterable
from typing import Final

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from cognition.context import Context, Graph, context_of, identity_of
from cognition.dates import now
from cognition.errors import InvalidInput
from cognition.ingestion.routing import text_size
from cognition.messages.context_window import ADVISED_FROM, TRIMMED_FROM, filled
from cognition.messages.history import has_content
from cognition.prompts.echo import within_budget
from cognition.services import Services
from cognition.sessions import closed_at
from cognition.settings import Settings
from cognition.state.echo import EchoState, Perceived
from cognition.state.turn import open_turn
from cognition.storage.resources import Resource
from cognition.text.tokens import estimate_tokens
from nodes.attachments import ingest, store_attachments

SUMMARIES_SHARE: Final = 0.1
"""Maximum share of the context for file summaries, newest first."""


async def perceive(state: EchoState, runtime: Runtime[Context], ingestion: Graph) -> EchoState:
    """Open the turn and collect the memories and files that the model should see.

    Args:
        state: The thread.
        runtime: The run's runtime.
        ingestion: The `ingestion` graph.

    Raises:
        InvalidInput: If the newest message is not a user's or is blank, or the user is blank.
    """
    identity, context = identity_of(runtime), context_of(runtime)
    services = context.services()
    messages = state.get("messages", [])
    newest = messages[-1] if messages else None
    if not isinstance(newest, HumanMessage) or not has_content(newest):
        msg = "Invalid messages: expected the last one to be a non-blank user message."
        raise InvalidInput(msg)
    fill = filled(messages, services.settings.context_tokens)
    closed = await closed_at(services, identity.user_id, identity.chat_id) if identity.chat_id else 0.0
    kept, attached = await store_attachments(newest, runtime)
    at, resources = now(), await _resources(runtime)
    waiting = await asyncio.to_thread(_waiting, resources, fill, services)
    if attached or waiting:
        await ingest(attached, waiting, fill, ingestion, runtime)
        at, resources = now(), await _resources(runtime)
    since = state["perceived"]["at"] if "perceived" in state else 0.0
    perceived = Perceived(
        memories=await _recalled(newest, runtime),
        files=_shown(resources, services.settings),
        events=[row.id for row in resources if row.updated_at > since or _is_pending(row)],
        at=at,
        fill=fill,
        closed=0 < since < closed,
    )
    turn = open_turn(context.policy, services.settings, state.get("turn"))
    return {"turn": turn, "perceived": perceived, "messages": [] if kept is newest else [kept]}


async def _resources(runtime: Runtime[Context]) -> list[Resource]:
    """Return the chat's resources, newest first; none if the run has no thread."""
    identity = identity_of(runtime)
    if not identity.chat_id:
        return []
    registry = await context_of(runtime).services().registry()
    return await asyncio.to_thread(registry.find, identity.user_id, identity.chat_id)


def _waiting(resources: Iterable[Resource], fill: float, services: Services) -> list[str]:
    """Return resources a killed process left unfinished, and those too large for the prompt; blocking."""
    return [row.id for row in resources if _is_pending(row) or _is_too_large(row, fill, services)]


def _is_pending(resource: Resource) -> bool:
    return resource.status == "PENDING_INGESTION"


def _is_too_large(resource: Resource, fill: float, services: Services) -> bool:
    """Return whether a file must leave the prompt; a text counts by its own size, not its original's."""
    if resource.status != "PUT_IN_CONTEXT" or fill < ADVISED_FROM:
        return False
    size = text_size(resource, services.files)
    if size is None:
        return resource.size > services.settings.crowded_file_bytes
    return fill >= TRIMMED_FROM or size > services.settings.crowded_file_bytes


def _shown(resources: Iterable[Resource], settings: Settings) -> list[str]:
    """Return the ids of the files shown in the prompt, oldest first: whole, or as summaries within budget."""
    left = int(settings.context_tokens * SUMMARIES_SHARE)
    shown: list[str] = []
    for resource in resources:
        if resource.status == "VECTORIZED_SUM_UP":
            left -= estimate_tokens(resource.summary)
        if resource.status == "PUT_IN_CONTEXT" or (resource.status == "VECTORIZED_SUM_UP" and left >= 0):
            shown.append(resource.id)
    return shown[::-1]


async def _recalled(message: HumanMessage, runtime: Runtime[Context]) -> list[str]:
    """Return the ids of the memories recalled for a message, within their budget."""
    context = context_of(runtime)
    services = context.services()
    text = message.text.strip()
    if context.memory == "off" or not services.settings.recall or not text:
        return []
    memory = await services.memory()
    user_id = identity_of(runtime).user_id
    memories = await memory.fetch(user_id, await memory.recall(user_id, text))
    return [memory.memory_id for memory in within_budget(memories)]
