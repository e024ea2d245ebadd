"""Exclusive runs on sub-agent threads: one at a time per thread, stopped together with their chat."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from cognition.concurrency.event_loop import wait_for
from cognition.concurrency.exclusive_runs import ExclusiveRuns, RunBusy, RunStopped
from cognition.storage.agent_threads import AgentThread

ONE = AgentThread(user_id="ada", chat_id="c", sub_sid="dlg_1", role="agent")
OTHERS = [replace(ONE, sub_sid="dlg_2"), replace(ONE, chat_id="d"), replace(ONE, user_id="bob")]


async def run(runs: ExclusiveRuns, thread: AgentThread, work: Coroutine[Any, Any, Any]) -> Any:
    return await runs.run(thread.key, (thread.user_id, thread.chat_id), work)


async def forever(begun: asyncio.Event) -> None:
    begun.set()
    await asyncio.Event().wait()


async def test_p29_a_thread_has_one_holder_at_a_time() -> None:
    runs, over = ExclusiveRuns(), asyncio.Event()
    working = asyncio.create_task(run(runs, ONE, over.wait()))
    while not runs.is_running(ONE.key):  # noqa: ASYNC110  # let the task start
        await asyncio.sleep(0)
    with pytest.raises(RunBusy, match="busy"):
        await run(runs, ONE, over.wait())
    assert not any(runs.is_running(thread.key) for thread in OTHERS)
    over.set()
    assert await working
    assert not runs.is_running(ONE.key)
    assert await run(runs, ONE, over.wait())


async def test_p48_stopping_a_chat_stops_its_own_threads_on_every_loop() -> None:
    runs, begun = ExclusiveRuns(), [asyncio.Event() for _ in OTHERS]
    here = asyncio.create_task(run(runs, ONE, forever(begun[0])))
    elsewhere = asyncio.create_task(
        asyncio.to_thread(wait_for, run(runs, OTHERS[0], forever(asyncio.Event())))
    )
    kept = [
        asyncio.create_task(run(runs, thread, begun[n].wait()))
        for n, thread in ((1, OTHERS[1]), (2, OTHERS[2]))
    ]
    while not all(runs.is_running(thread.key) for thread in (ONE, *OTHERS)):  # noqa: ASYNC110
        await asyncio.sleep(0)
    await runs.stop_group(("ada", "c"))
    assert [runs.is_running(thread.key) for thread in (ONE, *OTHERS)] == [False, False, True, True]
    for stopped in (here, elsewhere):
        with pytest.raises(RunStopped):
            await stopped
    for event in begun:
        event.set()
    assert await asyncio.gather(*kept) == [True, True]


async def test_p48_stopping_waits_for_what_can_not_be_left_half_way() -> None:
    runs, begun, done = ExclusiveRuns(), asyncio.Event(), []

    async def work() -> None:
        try:
            await forever(begun)
        finally:
            await asyncio.sleep(0)
            done.append("undone")

    working = asyncio.create_task(run(runs, ONE, work()))
    await begun.wait()
    await runs.stop_group(("ada", "c"))
    assert done == ["undone"]
    with pytest.raises(RunStopped):
        await working


async def test_a_caller_that_is_cancelled_is_cancelled_though_its_thread_is_stopped_too() -> None:
    runs, begun = ExclusiveRuns(), asyncio.Event()
    working = asyncio.create_task(run(runs, ONE, forever(begun)))
    await begun.wait()
    working.cancel()
    await runs.stop_group(("ada", "c"))
    with pytest.raises(asyncio.CancelledError):
        await working
