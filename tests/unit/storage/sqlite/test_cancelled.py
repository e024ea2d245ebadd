"""Pending writes of a cancelled run."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest
from langgraph.graph import START, MessagesState, StateGraph

from cognition.storage.sqlite.checkpointer import ThreadSaver, open_checkpointer
from tests.unit.storage.sqlite.chat import config_of, question


async def rows(saver: ThreadSaver, thread: str) -> int:
    sql = "SELECT count(*) FROM writes WHERE thread_id = ?"
    ((count,),) = await saver.conn.execute_fetchall(sql, (thread,))
    return int(count)


async def test_p48_what_a_cancelled_run_leaves_to_be_written_can_be_waited_for(
    saver: ThreadSaver, tmp_path: Path
) -> None:
    started = asyncio.Event()

    async def wait(state: MessagesState) -> MessagesState:
        started.set()
        await asyncio.Event().wait()
        return state

    graph = StateGraph(MessagesState).add_node(wait).add_edge(START, "wait").compile(checkpointer=saver)

    async def stream() -> None:
        parts = graph.astream(question(1), config_of("t"), stream_mode=["custom"], durability="sync")
        async with aclosing(cast("Any", parts)) as steps:
            async for _ in steps:
                pass

    run = asyncio.ensure_future(stream())
    await started.wait()
    async with open_checkpointer(tmp_path) as another:
        async with saver.lock:
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            written = asyncio.ensure_future(saver.wait_for_writes())
            await another.adelete_thread("t")
            assert not written.done()
        await written
        assert await rows(another, "t") == 1, "the write ran after the deletion and was awaited"
        await another.adelete_thread("t")
        await saver.wait_for_writes()
        assert await rows(another, "t") == 0
