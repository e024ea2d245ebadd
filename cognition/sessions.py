"""The sessions of a user: what each chat holds beside its conversation, and its end.

A session is what a chat was given and what it works on: resources, sources in session memory, sub-agents.
Long-term memories are never part of one, nor are a chat's messages and its name: by these it goes on later.
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
from cognition.memory.validation import MOST
from cognition.services import Services
from cognition.storage.agent_threads import AgentThread
from cognition.storage.chats import ChatTable
from cognition.storage.closures import Closures
from cognition.storage.resources import Resource

LONGEST_ABOUT: Final = 200
"""Characters that say what a chat is about."""

SessionContent = tuple[list[Resource], list[Source], list[AgentThread]]


async def list_sessions(services: Services, user_id: str) -> dict[str, Any]:
    """A user's sessions as plain JSON, the one that changed last first.

    Raises:
        InvalidInput: The user is blank.
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
    """What one session holds as plain JSON, the newest first.

    Raises:
        InvalidInput: The user or the chat is blank.
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
    """Delete what a session holds, for good, and end the closings that were interrupted before.

    Returns:
        As plain JSON how much of each kind there was.

    Raises:
        InvalidInput: The user or the chat is blank.
    """
    closings = Closures(await services.database())
    resources, sources, agents = await _content(services, user_id, chat_id)
    await asyncio.to_thread(closings.begin, user_id, chat_id)
    await _purge(services, user_id, chat_id)
    for user, chat in await asyncio.to_thread(closings.unfinished):
        with suppress(RunBusy):  # another chat's: the next closing ends it
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
    """The names that a user gave chats, by the ids of these."""
    chats = ChatTable(await services.database())
    return await asyncio.to_thread(chats.names, user_id)


async def is_known(services: Services, user_id: str, chat_id: str) -> bool:
    """Whether a user has a chat: something was said in it, or it was given something, then or now.

    Of a conversation that was never indexed nobody knows whose it is: there its id has to do.

    Raises:
        InvalidInput: The user or the chat is blank.
    """
    check_chat(user_id, chat_id)
    chats = ChatTable(await services.database())
    if users := await asyncio.to_thread(chats.users, chat_id):
        return user_id in users
    thread = RunnableConfig(configurable={"thread_id": chat_id})
    return await (await services.checkpointer()).aget_tuple(thread) is not None


async def closed_at(services: Services, user_id: str, chat_id: str) -> float:
    """When a chat's session was closed last, in unix seconds; 0 when it never was.

    Whoever goes on with a chat asks this first: a closing that was interrupted is ended here, so that it
    takes nothing with it that comes later.
    """
    closings = Closures(await services.database())
    moment, done = await asyncio.to_thread(closings.of, user_id, chat_id)
    if not done:
        await _purge(services, user_id, chat_id)
    return moment


async def _purge(services: Services, user_id: str, chat_id: str) -> None:
    """Delete all of a chat that is being closed; each step may find that it was taken before.

    What is at work is stopped first, so that it stores nothing behind the deletions: sub-agents at once, and
    what is being ingested when its row is gone.
    """
    closings = Closures(await services.database())
    async with services.closing.held((user_id, chat_id)):
        begun, done = await asyncio.to_thread(closings.of, user_id, chat_id)
        if done:
            return  # by another one meanwhile: what is there now came later
        registry, session = await services.registry(), await services.session()
        threads, checkpointer = await services.threads(), await services.checkpointer()
        await services.agent_runs.stop_group((user_id, chat_id))
        await asyncio.to_thread(registry.purge, user_id, chat_id)
        await asyncio.to_thread(services.files.purge, user_id, chat_id)
        await session.purge(user_id, chat_id)
        for agent in await asyncio.to_thread(threads.of_chat, user_id, chat_id):
            await checkpointer.adelete_thread(agent.key)
            await asyncio.to_thread(threads.delete, agent)
        await asyncio.to_thread(closings.finish, user_id, chat_id, begun)


async def _content(services: Services, user_id: str, chat_id: str | None = None) -> SessionContent:
    """What one chat of a user holds, or all of them do."""
    registry, session, threads = await services.registry(), await services.session(), await services.threads()
    everywhere = chat_id is None
    listing = await session.sources(user_id, chat_id or "every", everywhere=everywhere, limit=MOST)
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
    """By what a person knows a chat again: what was said last, else what it was given, or who works there."""
    resources, sources, agents = content
    said = [source.preview for source in sources if source.source_id == CONVERSATION]
    names = [resource.name for resource in resources] or [source.name for source in sources]
    told = said or [", ".join(names or [agent.role for agent in agents])]
    return shorten(told[0], LONGEST_ABOUT, placeholder="…")


def resource_row(resource: Resource) -> dict[str, Any]:
    """A resource as plain JSON."""
    names = ("id", "name", "resource_type", "mime", "size", "status", "chunks", "error", "summary")
    return {**{name: getattr(resource, name) for name in names}, "created_on": _day(resource.created_at)}


def _source(source: Source) -> dict[str, Any]:
    names = ("source_id", "name", "state", "chunks", "embedded", "characters", "tags", "preview")
    return {**{name: getattr(source, name) for name in names}, "indexed_on": _day(source.indexed_at)}


def _agent(agent: AgentThread) -> dict[str, Any]:
    names = ("sub_sid", "role", "skill_id", "level", "status", "steps")
    return {**{name: getattr(agent, name) for name in names}, "updated_on": _day(agent.updated_at)}


def _day(moment: float) -> str:
    """The UTC day of a moment."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
