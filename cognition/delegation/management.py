"""The sub-agents of a user in all chats, as plain JSON for the command line and HTTP."""

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
"""The events of a run, as they occur."""


async def list_agents(services: Services, user_id: str, chat_id: str = "") -> dict[str, Any]:
    """List a user's sub-agents, latest first.

    Args:
        services: The services of the process.
        user_id: The user.
        chat_id: The chat; empty for all chats.

    Raises:
        InvalidInput: If the user is blank.
    """
    threads = await services.threads()
    stored = await asyncio.to_thread(threads.of_user, user_id)
    names = await chat_names(services, user_id)
    rows = [
        _row(thread, names, services.agent_runs.is_running(thread.key))
        for thread in stored
        if chat_id in ("", thread.chat_id)
    ]
    return {"user_id": user_id, "total": len(rows), "agents": rows}


async def show_agent(graph: Graph, services: Services, user_id: str, sub_sid: str) -> dict[str, Any]:
    """Return a sub-agent with the messages of its thread, oldest first.

    Raises:
        InvalidInput: If the user has no such sub-agent.
    """
    agents, thread = await _find(graph, services, user_id, sub_sid)
    names = await chat_names(services, user_id)
    messages = [_message(message) for message in await agents.messages(thread.sub_sid)]
    return {**_row(thread, names, services.agent_runs.is_running(thread.key)), "messages": messages}


async def resume_agent(
    graph: Graph, services: Services, user_id: str, sub_sid: str, text: str, policy: Policy | None = None
) -> Events:
    """Resume a sub-agent; yield its events, then a `report` event with the outcome.

    Args:
        graph: The `delegation` graph.
        services: The services of the process.
        user_id: The user.
        sub_sid: The sub-agent.
        text: The answer to its question, or another task; empty to finish an interrupted task.
        policy: The policy that limits the levels; None for the policy of its last run.

    Raises:
        InvalidInput: If the user has no such sub-agent, or it can't continue.
    """
    agents, thread = await _find(graph, services, user_id, sub_sid, policy)
    events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def work() -> Report:
        try:
            if text.strip():
                return await agents.delegate(Assignment(task=text, sub_sid=thread.sub_sid), events.put_nowait)
            return await agents.resume(thread.sub_sid, events.put_nowait)
        finally:
            events.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (event := await events.get()) is not None:
            yield event
        report = await task
    finally:
        task.cancel()
    agent = {"sub_sid": report.sub_sid, "role": report.role, "note": report.note}
    yield {"type": "report", **agent, **report.outcome}


async def close_agent(graph: Graph, services: Services, user_id: str, sub_sid: str) -> dict[str, Any]:
    """Close a sub-agent and delete its thread.

    Raises:
        InvalidInput: If the user has no such sub-agent, or it is running.
    """
    agents, thread = await _find(graph, services, user_id, sub_sid)
    await agents.close(thread.sub_sid)
    return _row(thread, await chat_names(services, user_id), busy=False)


async def _find(
    graph: Graph, services: Services, user_id: str, sub_sid: str, policy: Policy | None = None
) -> tuple[SubAgents, AgentThread]:
    """Return the sub-agents of the chat to which a sub-agent belongs, and its thread."""
    threads = await services.threads()
    stored = await asyncio.to_thread(threads.of_user, user_id)
    thread = next((thread for thread in stored if thread.sub_sid == sub_sid.strip()), None)
    if thread is None:
        open_ids = ", ".join(thread.sub_sid for thread in stored) or "none"
        msg = f"The user {user_id!r} has no sub-agent {short_repr(sub_sid)}. Open sub-agents: {open_ids}."
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


def _message(message: AnyMessage) -> dict[str, Any]:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return {
        "type": message.type,
        "name": message.name,
        "text": message.text,
        "calls": [{"name": call["name"], "args": call["args"]} for call in calls],
    }
