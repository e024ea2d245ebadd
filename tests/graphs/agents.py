"""Helpers for tests of sub-agents and the chat that calls them."""

import asyncio
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import pytest

from cognition.context import BoundContext
from cognition.delegation.assignment import Assignment, Report
from cognition.delegation.sub_agents import SubAgents
from cognition.rehearsal import Call, Reply, Request
from cognition.services import Services
from cognition.storage.agent_threads import AgentThread
from graphs.delegation import graph

LOOK = Call("list_skills")


def agents(services: Services, user: str = "ada", chat: str = "c", **more: Any) -> SubAgents:
    """Return the `SubAgents` of a chat, created as the tools create it."""
    return SubAgents(graph, BoundContext(user_id=user, bound=services, chat_id=chat, **more))


async def delegate(services: Services, task: str, **more: Any) -> Report:
    """Delegate a task in Ada's chat."""
    return await agents(services).delegate(Assignment(task=task, **more))


async def cut_off(services: Services, task: str, **more: Any) -> AgentThread:
    """Cancel an agent's run while its tools run, and return its thread."""
    running: asyncio.Task[Any] | None = None

    def end(event: dict[str, Any]) -> None:
        if event["event"] == "tool" and running:
            running.cancel()

    running = asyncio.create_task(agents(services).delegate(Assignment(task=task, **more), end))
    with pytest.raises(asyncio.CancelledError):
        await running
    return (await agents(services).open_threads())[0]


def is_agent(request: Request) -> bool:
    """Return whether a request comes from a sub-agent, not from the chat."""
    return request.system.startswith("You are a sub-agent")


def beside(chat: Sequence[Reply], agent: Callable[[Request], Reply] | Sequence[Reply]) -> Any:
    """Return a script for a model that answers for the chat and for its sub-agents."""
    counts = {True: 0, False: 0}
    lock = Lock()

    def play(request: Request) -> Reply:
        role = is_agent(request)
        if role and callable(agent):
            return agent(request)
        replies = agent if role else chat
        with lock:
            counts[role] += 1
            return replies[min(counts[role], len(replies)) - 1]  # type: ignore[index]

    return play


def task_of(request: Request) -> str:
    """Return the text of the newest task, with the blocks below it."""
    return request.texts[_newest_task(request)]


def steps_of(request: Request) -> int:
    """Return how many times tools ran for the newest task before this request."""
    contents = request.body["contents"][_newest_task(request) :]
    return sum("functionResponse" in content["parts"][0] for content in contents)


def _newest_task(request: Request) -> int:
    contents = request.body["contents"]
    return max(i for i, content in enumerate(contents) if content["role"] == "user" and request.texts[i])
