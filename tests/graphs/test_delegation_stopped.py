"""Sub-agents whose chat is closed while they are at work."""

import asyncio

import pytest

from cognition.blocking import wait_for
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.services import Services
from cognition.sessions import close_session
from cognition.storage.threads import ThreadStopped
from tests.conftest import LITE
from tests.graphs.agents import LOOK, agents, delegate, steps_of


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same loop", "another loop"])
@pytest.mark.parametrize("steps", [0, 2])
async def test_p48_closing_a_chat_stops_its_agents_and_leaves_nothing_of_them(
    steps: int, elsewhere: bool, rehearsal: RehearsalServer, services: Services
) -> None:
    loop, silent = asyncio.get_running_loop(), asyncio.Event()

    def say(request: Request) -> Reply:
        if steps_of(request) < steps:
            return Reply(calls=[LOOK])
        loop.call_soon_threadsafe(silent.set)
        return Reply(text="I would", failure="stall")

    rehearsal.script(LITE, say)
    working = asyncio.create_task(delegate(services, "Look around."))
    await silent.wait()
    closing = close_session(services, "ada", "c")
    told = await (asyncio.to_thread(wait_for, closing) if elsewhere else closing)
    assert told["agents"] == 1
    with pytest.raises(ThreadStopped, match="The chat was closed"):
        await working
    assert await agents(services).open_threads() == []
    saver = await services.checkpointer()
    assert [saved async for saved in saver.alist(None)] == []
    rehearsal.script(LITE, [Reply(text="Here.")])
    assert (await delegate(services, "Begin anew.")).outcome["text"] == "Here."
