"""Pruning of checkpoints: what is deleted and what is kept."""

import random
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, RemoveMessage

from cognition.storage.sqlite.checkpointer import FILE, TURNS_KEPT, ThreadSaver, open_checkpointer
from tests.unit.storage.sqlite.chat import chat_graph, config_of, conversation, question, texts_of


class History:
    """The messages in each checkpoint of a thread when it was created."""

    def __init__(self, saver: ThreadSaver, thread: str = "t") -> None:
        self.saver, self.thread = saver, thread
        self.graph = chat_graph(saver)
        self.messages: dict[str, list[str]] = {}

    async def stored(self, thread: str = "") -> dict[str, list[str]]:
        states = [s async for s in self.graph.aget_state_history(config_of(thread or self.thread))]
        return {s.config["configurable"]["checkpoint_id"]: _texts(s.values) for s in states}

    async def say(self, number: int, at: str = "", run: str = "") -> None:
        config = config_of(self.thread, run)
        if at:
            config["configurable"]["checkpoint_id"] = at
        await self.graph.ainvoke(question(number), config)
        await self.learn()

    async def learn(self) -> None:
        for checkpoint, texts in (await self.stored()).items():
            assert self.messages.setdefault(checkpoint, texts) == texts

    async def newest(self) -> list[str]:
        return await texts_of(self.graph, config_of(self.thread))


def _texts(values: dict[str, Any]) -> list[str]:
    return [message.text for message in values.get("messages", [])]


async def test_old_checkpoints_go_and_the_newest_turns_stay(saver: ThreadSaver) -> None:
    history = History(saver)
    for number in range(40):
        await history.say(number)
        kept = await history.stored()
        turns_back = range(max(0, number + 1 - TURNS_KEPT), number + 1)
        assert all(conversation(turn) in kept.values() for turn in turns_back)
    assert len(kept) < 60
    assert len(history.messages) == 40 * 5
    assert await history.newest() == conversation(40)


@pytest.mark.parametrize("seed", range(4))
async def test_no_state_that_is_kept_ever_changes(saver: ThreadSaver, seed: int) -> None:
    """Applies random operations to a thread: turns, time travel, edits, rollbacks and prunes."""
    chance, history = random.Random(seed), History(saver)
    expected: list[str] = []
    for number in range(30):
        match chance.choice(["say", "say", "say", "fork", "edit", "roll back", "prune"]):
            case "fork" if expected:
                at = chance.choice(list(await history.stored()))
                expected = [*history.messages[at], f"q{number}", f"re q{number}"]
                await history.say(number, at=at)
            case "edit" if expected:
                state = await history.graph.aget_state(config_of("t"))
                gone = chance.choice(state.values["messages"])
                await history.graph.aupdate_state(
                    config_of("t"), {"messages": [RemoveMessage(gone.id)]}, as_node="record"
                )
                expected = [m.text for m in state.values["messages"] if m.id != gone.id]
            case "roll back":
                await history.say(number, run=f"run {number}")
                await saver.adelete_for_runs([f"run {number}"])
                assert f"q{number}" not in await history.newest()
            case "prune":
                await saver.aprune(["t"])
            case _:
                await history.say(number)
                expected = [*expected, f"q{number}", f"re q{number}"]
        await history.learn()
        assert await history.newest() == expected


async def test_a_copy_stands_on_its_own(saver: ThreadSaver) -> None:
    history = History(saver)
    for number in range(6):
        await history.say(number)
    await saver.acopy_thread("t", "copy")
    original = await history.stored()
    assert await history.stored("copy") == original
    await saver.adelete_thread("t")
    assert await history.stored("copy") == original
    await history.graph.ainvoke(question(6), config_of("copy"))
    assert await texts_of(history.graph, config_of("copy")) == conversation(7)


async def test_a_prune_to_the_newest_state_keeps_what_it_is_built_from(saver: ThreadSaver) -> None:
    history = History(saver)
    for number in range(6):
        await history.say(number)
    before = await history.stored()
    await saver.aprune(["t"], strategy="keep_latest")
    assert 1 < len(await history.stored()) < len(before)
    assert await history.newest() == conversation(6)
    await saver.aprune(["t"], strategy="delete")
    assert await history.stored() == {}


async def test_writes_that_come_before_their_checkpoint_are_kept(saver: ThreadSaver) -> None:
    history = History(saver)
    await history.say(0)
    early: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "0-not-there-yet"}}
    await saver.aput_writes(early, [("messages", [HumanMessage("early")])], "task")
    for number in range(1, 12):
        await history.say(number)
    rows = await saver.conn.execute_fetchall("SELECT count(*) FROM writes WHERE task_id = 'task'")
    assert [row[0] for row in rows] == [1]


async def test_p28_the_file_grows_with_the_turns_and_not_their_square(tmp_path: Path) -> None:
    sizes: list[int] = []
    async with open_checkpointer(tmp_path) as saver:
        graph = chat_graph(saver)
        for number in range(120):
            await graph.ainvoke(question(number, " " + "x" * 2_000), config_of("t"))
            if number in (59, 119):
                await saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                sizes.append((tmp_path / FILE).stat().st_size)
    total_text = 120 * 4_000
    assert sizes[1] / sizes[0] <= 2.2
    assert sizes[1] < 8 * total_text
