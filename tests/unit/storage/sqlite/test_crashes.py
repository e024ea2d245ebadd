"""Threads after a process was killed, and threads of several processes in one file."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from cognition.storage.sqlite.checkpointer import BUSY_SECONDS, ThreadSaver, open_checkpointer
from tests.unit.storage.sqlite.chat import chat_graph, config_of, conversation, question, texts_of

ROOT = Path(__file__).parents[4]


def start(program: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", f"tests.unit.storage.sqlite.{program}", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("before", "turns"), [(0, 1), (8, 2)], ids=["new", "pruned"])
async def test_a_thread_killed_at_any_statement_neither_loses_nor_doubles_a_message(
    tmp_path: Path, before: int, turns: int
) -> None:
    output, errors = await asyncio.to_thread(start("killing", tmp_path, before, turns).communicate)
    result = json.loads(output or "{}")
    assert result, errors
    assert result["wrong"] == []
    assert {"INSERT", "COMMIT"} <= set(result["killed"])
    assert ("DELETE" in result["killed"]) == (before > 0)  # includes kills during a prune


async def test_a_thread_goes_on_after_a_restart(tmp_path: Path) -> None:
    for number in range(3):
        async with open_checkpointer(tmp_path) as saver:
            await chat_graph(saver).ainvoke(question(number), config_of("t"))
    async with open_checkpointer(tmp_path) as saver:
        assert await texts_of(chat_graph(saver), config_of("t")) == conversation(3)


async def test_p30_processes_share_one_new_file(tmp_path: Path) -> None:
    threads = ["a", "b", "c"]
    for process in [start("chat", tmp_path, thread, 15) for thread in threads]:
        _, errors = await asyncio.to_thread(process.communicate)
        assert process.returncode == 0, errors
    async with open_checkpointer(tmp_path) as saver:
        for thread in threads:
            assert await texts_of(chat_graph(saver), config_of(thread)) == conversation(15)


async def test_p30_a_writer_waits_for_a_long_transaction(saver: ThreadSaver) -> None:
    expected = {"busy_timeout": BUSY_SECONDS * 1000, "journal_mode": "wal", "synchronous": 1}
    for name, value in expected.items():
        rows = await saver.conn.execute_fetchall(f"PRAGMA {name}")
        assert [row[0] for row in rows] == [value]


async def test_p26_nothing_blocks_the_event_loop(tmp_path: Path) -> None:
    with blockbuster_ctx():
        async with open_checkpointer(tmp_path / "new") as saver:
            for number in range(8):
                await chat_graph(saver).ainvoke(question(number), config_of("t"))
            await saver.acopy_thread("t", "u")
            await saver.aprune(["u"])
