"""The sub-agents of a user over all chats, as plain JSON for the command line and for HTTP."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from reprlib import repr as short_repr
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage

from cognition.context import BoundContext, Graph
from cognition.delegation.assignment import Assignment, Report
from cognition.delegation.sub_agents import SubAgents, UnknownAgent
from cognition.levels import Policy
from cognition.services import Services
from cognition.sessions import chat_names
from cognition.storage.agent_threads import AgentThread

Events = AsyncGenerator[dict[str, Any]]


async def list_agents(services: Services, user_id: str, chat_id: str = "") -> dict[str, Any]:
    """A user's sub-agents, the one that moved last first.

    Args:
        services: What the threads are in.
        user_id: Whose.
        chat_id: Only those of this chat; empty for all.

    Raises:
        InvalidInput: The user is blank.
    """
    threads = await services.threads()
    found = await asyncio.to_thread(threads.of_user, user_id)
    names = await chat_names(services, user_id)
    rows = [
        _row(thread, names, services.agent_runs.is_running(thread.key))
        for thread in found
        if chat_id in ("", thread.chat_id)
    ]
    return {"user_id": user_id, "total": len(rows), "agents": rows}


async def show_agent(graph: Graph, services: Services, user_id: str, sub_sid: str) -> dict[str, Any]:
    """A sub-agent with what was said in its thread, oldest first.

    Raises:
        InvalidInput: The user has no such sub-agent.
    """
    agents, thread = await _found(graph, services, user_id, sub_sid)
    names = await chat_names(services, user_id)
    said = [_said(message) for message in await agents.messages(thread.sub_sid)]
    return {**_row(thread, names, services.agent_runs.is_running(thread.key)), "messages": said}


async def resume_agent(
    graph: Graph, services: Services, user_id: str, sub_sid: str, text: str, policy: Policy | None = None
) -> Events:
    """Let a sub-agent go on; yields its events, and in the end what came of it.

    Args:
        graph: The `delegation` graph.
        services: What it stands on.
        user_id: Whose.
        sub_sid: The sub-agent.
        text: The answer to its question, or a further task; empty to finish what it was cut off at.
        policy: The levels that may think; None for those of its newest run.

    Raises:
        InvalidInput: The user has no such sub-agent, or it can't go on.
    """
    agents, thread = await _found(graph, services, user_id, sub_sid, policy)
    told: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def work() -> Report:
        try:
            if text.strip():
                return await agents.delegate(Assignment(task=text, sub_sid=thread.sub_sid), told.put_nowait)
            return await agents.resume(thread.sub_sid, told.put_nowait)
        finally:
            told.put_nowait(None)

    working = asyncio.create_task(work())
    try:
        while (event := await told.get()) is not None:
            yield event
        report = await working
    finally:
        working.cancel()
    told_of = {"sub_sid": report.sub_sid, "role": report.role, "note": report.note}
    yield {"type": "report", **told_of, **report.outcome}


async def close_agent(graph: Graph, services: Services, user_id: str, sub_sid: str) -> dict[str, Any]:
    """End a sub-agent and delete its thread.

    Raises:
        InvalidInput: The user has no such sub-agent, or it is at work.
    """
    agents, thread = await _found(graph, services, user_id, sub_sid)
    await agents.close(thread.sub_sid)
    return _row(thread, await chat_names(services, user_id), busy=False)


async def _found(
    graph: Graph, services: Services, user_id: str, sub_sid: str, policy: Policy | None = None
) -> tuple[SubAgents, AgentThread]:
    """The sub-agents of the chat that has this one, and the thread of this one."""
    threads = await services.threads()
    every = await asyncio.to_thread(threads.of_user, user_id)
    thread = next((thread for thread in every if thread.sub_sid == sub_sid.strip()), None)
    if thread is None:
        there = ", ".join(thread.sub_sid for thread in every)
        msg = f"{user_id!r} has no sub-agent {short_repr(sub_sid)}. " + (
            f"Open are: {there}." if there else "None is open."
        )
        raise UnknownAgent(msg)
    context = BoundContext(
        user_id=user_id,
        bound=services,
        chat_id=thread.chat_id,
        policy=policy or thread.policy,
        memory=thread.memory,
    )
    return SubAgents(graph, context), thread


def _row(thread: AgentThread, names: dict[str, str], busy: bool) -> dict[str, Any]:
    times = {
        f"{name}_on": f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
        for name, moment in (("created", thread.created_at), ("updated", thread.updated_at))
    }
    return {**vars(thread), "chat_name": names.get(thread.chat_id, ""), "busy": busy, **times}


def _said(message: AnyMessage) -> dict[str, Any]:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return {
        "type": message.type,
        "name": message.name,
        "text": message.text,
        "calls": [{"name": call["name"], "args": call["args"]} for call in calls],
    }
