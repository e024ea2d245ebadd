"""The index of sub-agent threads."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognition.storage.agent_threads import AgentThread, AgentThreadTable
from cognition.storage.sqlite.database import Database

NEW = AgentThread(user_id="ada", chat_id="c", sub_sid="dlg_1", role="Baker", skill_id="baker")
names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
places = st.tuples(names, names, names)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path)
    yield database
    database.close()


@pytest.fixture
def threads(database: Database) -> AgentThreadTable:
    return AgentThreadTable(database)


def test_a_thread_is_noted_from_its_beginning_to_its_end(threads: AgentThreadTable) -> None:
    threads.begin(NEW, "Bake\n  bread")
    begun = threads.get("ada", "c", "dlg_1")
    assert begun
    assert (begun.status, begun.request, begun.answer, begun.steps) == ("working", "Bake bread", "", 0)
    assert threads.finish(
        NEW, status="waiting", level="MODEL_PRO", steps=3, request="Bake", answer="How?" * 99
    )
    (done,) = threads.of_chat("ada", "c")
    assert (done.status, done.level, done.steps) == ("waiting", "MODEL_PRO", 3)
    assert len(done.answer) == 200
    assert done.answer.endswith("…")
    assert (done.role, done.skill_id, done.created_at) == ("Baker", "baker", begun.created_at)
    threads.begin(NEW, "Warm")
    assert threads.of_user("ada")[0].steps == 3, "the count is kept"
    threads.delete(NEW)
    assert threads.get("ada", "c", "dlg_1") is None
    assert not threads.finish(NEW, status="open", level="", steps=9, request="", answer="")


def test_p47_each_call_is_for_one_user_and_chat(threads: AgentThreadTable) -> None:
    others = [replace(NEW, chat_id="d"), replace(NEW, user_id="eve")]
    for thread in (NEW, *others):
        threads.begin(thread, f"{thread.user_id} {thread.chat_id}")
    assert [thread.request for thread in threads.of_chat("ada", "c")] == ["ada c"]
    assert {thread.request for thread in threads.of_user("ada")} == {"ada c", "ada d"}
    threads.finish(NEW, status="open", level="", steps=1, request="mine", answer="")
    threads.delete(replace(NEW, sub_sid="dlg_2"))
    assert [thread.status for thread in threads.of_chat("eve", "c")] == ["working"]
    for user, chat in (("", "c"), (" ", "c"), ("ada", " ")):
        with pytest.raises(ValueError, match=r"blank|user"):
            threads.begin(replace(NEW, user_id=user, chat_id=chat), "Go")


def test_the_one_that_moved_last_comes_first(threads: AgentThreadTable) -> None:
    for number in range(3):
        threads.begin(replace(NEW, sub_sid=f"dlg_{number}"), "Go")
    threads.begin(replace(NEW, sub_sid="dlg_1"), "Once more")
    assert [thread.sub_sid for thread in threads.of_chat("ada", "c")] == ["dlg_1", "dlg_2", "dlg_0"]


@given(places, places)
def test_p29_no_two_threads_share_their_checkpoints(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    first, second = (
        AgentThread(user_id=user, chat_id=chat, sub_sid=sub_sid, role="")
        for user, chat, sub_sid in (one, other)
    )
    assert (first.key == second.key) == (one == other)
