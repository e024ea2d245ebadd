"""Sub-agents that run while the session of their chat is closed."""

import asyncio
from typing import Any

import pytest

from cognition.concurrency.event_loop import wait_for
from cognition.concurrency.exclusive_runs import RunStopped
from cognition.delegation.assignment import Assignment, Report
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.services import Services
from cognition.sessions import close_session
from tests.conftest import LITE
from tests.graphs.agents import LOOK, agents, delegate, steps_of


async def start_agent(rehearsal: RehearsalServer, services: Services, steps: int = 0) -> asyncio.Task[Report]:
    """Start a sub-agent that takes a number of steps and then waits for a stalled model."""
    loop, silent = asyncio.get_running_loop(), asyncio.Event()

    def say(request: Request) -> Reply:
        if steps_of(request) < steps:
            return Reply(calls=[LOOK])
        loop.call_soon_threadsafe(silent.set)
        return Reply(text="I would", failure="stall")

    rehearsal.script(LITE, say)
    working = asyncio.create_task(delegate(services, "Look around."))
    async with asyncio.timeout(20):
        await silent.wait()
    return working


async def assert_nothing_is_left(services: Services) -> None:
    assert await agents(services).open_threads() == []
    saver = await services.checkpointer()
    for table in ("checkpoints", "writes"):
        assert list(await saver.conn.execute_fetchall(f"SELECT * FROM {table}")) == []


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same loop", "another loop"])
@pytest.mark.parametrize("steps", [0, 2])
async def test_p48_closing_a_session_stops_its_agents_and_deletes_them(
    steps: int, elsewhere: bool, rehearsal: RehearsalServer, services: Services
) -> None:
    working = await start_agent(rehearsal, services, steps)
    closing = close_session(services, "ada", "c")
    closed = await (asyncio.to_thread(wait_for, closing) if elsewhere else closing)
    assert closed["agents"] == 1
    with pytest.raises(RunStopped, match="session of this chat was closed"):
        await working
    await assert_nothing_is_left(services)
    rehearsal.script(LITE, [Reply(text="Here.")])
    assert (await delegate(services, "Begin anew.")).outcome["text"] == "Here."


async def test_p48_closing_waits_for_the_last_writes_of_a_stopped_agent(
    rehearsal: RehearsalServer, services: Services
) -> None:
    working = await start_agent(rehearsal, services)
    saver = await services.checkpointer()
    async with saver.lock:
        closing = asyncio.create_task(asyncio.to_thread(wait_for, close_session(services, "ada", "c")))
        ended, _ = await asyncio.wait({working, closing}, timeout=0.5)
        assert not ended
    await closing
    with pytest.raises(RunStopped):
        await working
    await assert_nothing_is_left(services)


async def test_p48_an_expert_is_stopped_during_its_briefing_too(
    rehearsal: RehearsalServer, services: Services
) -> None:
    briefing = asyncio.Event()

    async def opening() -> str:
        briefing.set()
        return str(await asyncio.Event().wait())

    rehearsal.script(LITE, [])
    working = asyncio.create_task(delegate(services, "Is it safe?", opening=opening))
    await briefing.wait()
    await close_session(services, "ada", "c")
    with pytest.raises(RunStopped):
        await working
    await assert_nothing_is_left(services)
    assert rehearsal.requests == []


async def test_p48_many_agents_are_stopped_together_at_any_step(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(calls=[LOOK])])
    for number in range(6):
        stopped: list[dict[str, Any]] = []
        working = [
            asyncio.create_task(agents(services).delegate(Assignment(task=f"Look {one}"), stopped.append))
            for one in range(4)
        ]
        while len(rehearsal.requests) < 4 + 3 * number:  # noqa: ASYNC110  # at a different step each time
            await asyncio.sleep(0.001)
        await close_session(services, "ada", "c")
        for error in await asyncio.gather(*working, return_exceptions=True):
            assert isinstance(error, RunStopped)
        assert {event["status"] for event in stopped if event["event"] == "ended"} == {"stopped"}
        await assert_nothing_is_left(services)
        rehearsal.requests.clear()
