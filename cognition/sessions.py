"""The sessions of a user: listing, showing and closing them.

A session is what a chat holds besides its messages: resources, sources in session memory, and sub-agents.
Long-term memories are never part of it. Neither are the chat's messages and name, so that a chat can be
continued after its session is closed.
"""

import asyncio
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from textwrap import shorten
from typing import Any, Final

from langchain_core.runnables import RunnableConfig

from cognition.concurrency.exclusive_runs import RunBusy
from cognition.identity import check_chat
from cognition.memory.session.catalog import Source
from cognition.memory.session.conversation import CONVERSATION
from cognition.memory.validation import MAX_COUNT
from cognition.services import Services
from cognition.storage.agent_threads import AgentThread
from cognition.storage.chats import ChatTable
from cognition.storage.closures import Closures
from cognition.storage.resources import Resource

MAX_ABOUT_LENGTH: Final = 200
"""Maximum length of a session's `about` text in characters."""

SessionContent = tuple[list[Resource], list[Source], list[AgentThread]]


async def list_sessions(services: Services, user_id: str) -> dict[str, Any]:
    """Return a user's sessions as plain JSON, the most recently changed first.

    Raises:
        InvalidInput: If the user is blank.
    """
    resources, sources, agents = await _content(services, user_id)
    sessions: dict[str, SessionContent] = defaultdict(lambda: ([], [], []))
    for resource in resources:
        sessions[resource.chat_id][0].append(resource)
    for source in sources:
        sessions[source.chat_id][1].append(source)
    for agent in agents:
        sessions[agent.chat_id][2].append(agent)
    names = await chat_names(services, user_id)
    rows = [_summary(chat_id, names.get(chat_id, ""), content) for chat_id, content in sessions.items()]
    rows.sort(key=lambda row: row["changed_at"], reverse=True)
    return {"user_id": user_id, "total": len(rows), "sessions": rows}


async def show_session(services: Services, user_id: str, chat_id: str) -> dict[str, Any]:
    """Return the content of a session as plain JSON, newest first.

    Raises:
        InvalidInput: If the user or the chat is blank.
    """
    closed = await closed_at(services, user_id, chat_id)
    resources, sources, agents = await _content(services, user_id, chat_id)
    return {
        "user_id": user_id,
        "chat_id": chat_id,
        "chat_name": (await chat_names(services, user_id)).get(chat_id, ""),
        "closed_at": closed,
        "resources": [resource_row(resource) for resource in resources],
        "sources": [_source(source) for source in sources],
        "agents": [_agent(agent) for agent in agents],
    }


async def close_session(services: Services, user_id: str, chat_id: str) -> dict[str, Any]:
    """Delete the content of a session permanently, and complete any interrupted closures.

    Returns:
        The number of deleted items of each kind, as plain JSON.

    Raises:
        InvalidInput: If the user or the chat is blank.
    """
    closures = Closures(await services.database())
    resources, sources, agents = await _content(services, user_id, chat_id)
    await asyncio.to_thread(closures.begin, user_id, chat_id)
    await _purge(services, user_id, chat_id)
    for user, chat in await asyncio.to_thread(closures.unfinished):
        with suppress(RunBusy):  # a later call completes the closure of a busy chat
            await _purge(services, user, chat)
    return {
        "user_id": user_id,
        "chat_id": chat_id,
        "chat_name": (await chat_names(services, user_id)).get(chat_id, ""),
        "resources": len(resources),
        "sources": len(sources),
        "chunks": sum(source.chunks for source in sources),
        "agents": len(agents),
    }


async def chat_names(services: Services, user_id: str) -> dict[str, str]:
    """Return the names that a user gave to chats, by chat id."""
    chats = ChatTable(await services.database())
    return await asyncio.to_thread(chats.names, user_id)


async def is_known(services: Services, user_id: str, chat_id: str) -> bool:
    """Return True if the user has this chat: it has, or once had, messages or files.

    The owner of a conversation that was never indexed is not recorded, so its id is enough.

    Raises:
        InvalidInput: If the user or the chat is blank.
    """
    check_chat(user_id, chat_id)
    chats = ChatTable(await services.database())
    if users := await asyncio.to_thread(chats.users, chat_id):
        return user_id in users
    thread = RunnableConfig(configurable={"thread_id": chat_id})
    return await (await services.checkpointer()).aget_tuple(thread) is not None


async def closed_at(services: Services, user_id: str, chat_id: str) -> float:
    """Return when the session was last closed, in unix seconds, or 0 if it never was.

    Call this before continuing a chat: it completes an interrupted closure, which would otherwise delete
    content added later.
    """
    closures = Closures(await services.database())
    moment, done = await asyncio.to_thread(closures.of, user_id, chat_id)
    if not done:
        await _purge(services, user_id, chat_id)
    return moment


async def _purge(services: Services, user_id: str, chat_id: str) -> None:
    """Delete the content of a session that is being closed. Every step is idempotent.

    Running work is stopped first, so that it stores nothing after the deletions: sub-agents immediately,
    and the ingestion of a resource once its row is deleted.
    """
    closures = Closures(await services.database())
    async with services.closing.lock((user_id, chat_id)):
        begun, done = await asyncio.to_thread(closures.of, user_id, chat_id)
        if done:
            return  # completed by another task; any content now present was added later
        registry, session = await services.registry(), await services.session()
        threads, checkpointer = await services.threads(), await services.checkpointer()
        await services.agent_runs.stop_group((user_id, chat_id))
        await asyncio.to_thread(registry.purge, user_id, chat_id)
        await asyncio.to_thread(services.files.purge, user_id, chat_id)
        await session.purge(user_id, chat_id)
        for agent in await asyncio.to_thread(threads.of_chat, user_id, chat_id):
            await checkpointer.adelete_thread(agent.key)
            await asyncio.to_thread(threads.delete, agent)
        await asyncio.to_thread(closures.finish, user_id, chat_id, begun)


async def _content(services: Services, user_id: str, chat_id: str | None = None) -> SessionContent:
    """Return the content of one session, or of all of the user's sessions."""
    registry, session, threads = await services.registry(), await services.session(), await services.threads()
    everywhere = chat_id is None
    listing = await session.sources(user_id, chat_id or "every", everywhere=everywhere, limit=MAX_COUNT)
    if chat_id is None:
        resources = await asyncio.to_thread(registry.of_user, user_id)
        return resources, listing.sources, await asyncio.to_thread(threads.of_user, user_id)
    resources = await asyncio.to_thread(registry.find, user_id, chat_id)
    return resources, listing.sources, await asyncio.to_thread(threads.of_chat, user_id, chat_id)


def _summary(chat_id: str, chat_name: str, content: SessionContent) -> dict[str, Any]:
    resources, sources, agents = content
    changed = max(
        *(resource.updated_at for resource in resources),
        *(source.indexed_at for source in sources),
        *(agent.updated_at for agent in agents),
        0.0,
        0.0,
    )
    return {
        "chat_id": chat_id,
        "chat_name": chat_name,
        "resources": len(resources),
        "bytes": sum(resource.size for resource in resources),
        "sources": len(sources),
        "chunks": sum(source.chunks for source in sources),
        "agents": len(agents),
        "changed_at": changed,
        "changed_on": _day(changed),
        "about": _about(content),
    }


def _about(content: SessionContent) -> str:
    """Return a text to recognise a chat by: its last messages, or the names of its files or sub-agents."""
    resources, sources, agents = content
    previews = [source.preview for source in sources if source.source_id == CONVERSATION]
    names = [resource.name for resource in resources] or [source.name for source in sources]
    texts = previews or [", ".join(names or [agent.role for agent in agents])]
    return shorten(texts[0], MAX_ABOUT_LENGTH, placeholder="…")


def resource_row(resource: Resource) -> dict[str, Any]:
    """Return a resource as plain JSON."""
    names = ("id", "name", "resource_type", "mime", "size", "status", "chunks", "error", "summary")
    return {**{name: getattr(resource, name) for name in names}, "created_on": _day(resource.created_at)}


def _source(source: Source) -> dict[str, Any]:
    names = ("source_id", "name", "state", "chunks", "embedded", "characters", "tags", "preview")
    return {**{name: getattr(source, name) for name in names}, "indexed_on": _day(source.indexed_at)}


def _agent(agent: AgentThread) -> dict[str, Any]:
    names = ("sub_sid", "role", "skill_id", "level", "status", "steps")
    return {**{name: getattr(agent, name) for name in names}, "updated_on": _day(agent.updated_at)}


def _day(moment: float) -> str:
    """Return the UTC date of a unix timestamp."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
