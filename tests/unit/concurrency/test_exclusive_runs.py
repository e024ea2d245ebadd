"""Work on threads of sub-agents: one at a time, and stopped with their chat."""

import asyncio
from dataclasses import replace

import pytest

from cognition.concurrency.event_loop import wait_for
from cognition.concurrency.exclusive_runs import Claims, ThreadBusy, ThreadStopped
from cognition.storage.agent_threads import AgentThread

ONE = AgentThread(user_id="ada", chat_id="c", sub_sid="dlg_1", role="agent")
OTHERS = [replace(ONE, sub_sid="dlg_2"), replace(ONE, chat_id="d"), replace(ONE, user_id="bob")]


async def forever(begun: asyncio.Event) -> None:
    begun.set()
    await asyncio.Event().wait()


async def test_p29_a_thread_has_one_holder_at_a_time() -> None:
    claims, over = Claims(), asyncio.Event()
    working = asyncio.create_task(claims.run(ONE, over.wait()))
    while not claims.holds(ONE):  # noqa: ASYNC110  # for the loop to come round
        await asyncio.sleep(0)
    with pytest.raises(ThreadBusy, match="dlg_1"):
        await claims.run(ONE, over.wait())
    assert not any(map(claims.holds, OTHERS))
    over.set()
    assert await working
    assert not claims.holds(ONE)
    assert await claims.run(ONE, over.wait())


async def test_p48_stopping_a_chat_stops_its_own_threads_on_every_loop() -> None:
    claims, begun = Claims(), [asyncio.Event() for _ in OTHERS]
    here = asyncio.create_task(claims.run(ONE, forever(begun[0])))
    elsewhere = asyncio.create_task(
        asyncio.to_thread(wait_for, claims.run(OTHERS[0], forever(asyncio.Event())))
    )
    kept = [
        asyncio.create_task(claims.run(thread, begun[n].wait()))
        for n, thread in ((1, OTHERS[1]), (2, OTHERS[2]))
    ]
    while not all(map(claims.holds, [ONE, *OTHERS])):  # noqa: ASYNC110
        await asyncio.sleep(0)
    await claims.stop("ada", "c")
    assert [claims.holds(thread) for thread in (ONE, *OTHERS)] == [False, False, True, True]
    for stopped in (here, elsewhere):
        with pytest.raises(ThreadStopped):
            await stopped
    for event in begun:
        event.set()
    assert await asyncio.gather(*kept) == [True, True]


async def test_p48_stopping_waits_for_what_can_not_be_left_half_way() -> None:
    claims, begun, done = Claims(), asyncio.Event(), []

    async def work() -> None:
        try:
            await forever(begun)
        finally:
            await asyncio.sleep(0)
            done.append("undone")

    working = asyncio.create_task(claims.run(ONE, work()))
    await begun.wait()
    await claims.stop("ada", "c")
    assert done == ["undone"]
    with pytest.raises(ThreadStopped):
        await working


async def test_a_caller_that_is_cancelled_is_cancelled_though_its_thread_is_stopped_too() -> None:
    claims, begun = Claims(), asyncio.Event()
    working = asyncio.create_task(claims.run(ONE, forever(begun)))
    await begun.wait()
    working.cancel()
    await claims.stop("ada", "c")
    with pytest.raises(asyncio.CancelledError):
        await working
