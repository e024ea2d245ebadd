"""Tests of the isolation of users in long-term memory."""

from cognition.memory.long_term.memory import point_id
from cognition.memory.long_term.store import LongTermMemory
from tests.unit.memory.conftest import PROFILE, Distil, Keep, facts_of, stored

SECRET = "My safe opens with 4711."
HERS, OURS = ("a", "b_c"), ("a_b", "c")
"""Two users and memory ids that are equal when joined by an underscore."""


async def both(memory: LongTermMemory) -> None:
    await memory.import_many(
        [
            stored(SECRET, user_id=HERS[0], memory_id=HERS[1], memory_importance=5, superseded=[]),
            stored("The sea is blue.", user_id=OURS[0], memory_id=OURS[1]),
        ]
    )


async def test_p47_ids_with_the_same_concatenation_are_different_points(memory: LongTermMemory) -> None:
    assert point_id(*HERS) != point_id(*OURS)
    await both(memory)
    assert await facts_of(memory, "a") == [SECRET]
    assert await facts_of(memory, "a_b") == ["The sea is blue."]


async def test_p47_nothing_reads_another_users_memory(memory: LongTermMemory) -> None:
    await both(memory)
    assert [f.memory.fact for f in await memory.search("a_b", "With what number does my safe open?")] == []
    assert await memory.recall("a_b", "With what number does my safe open?") == ["c"]
    assert await memory.fetch("a_b", ["b_c", "c"]) == await memory.fetch("a_b", ["c"])
    assert await memory.fetch("a", ["c"]) == []
    index = await memory.index("a_b", artifact_name=PROFILE)
    assert (index.total, index.artifacts) == (1, {PROFILE: 1})


async def test_p47_nothing_changes_another_users_memory(
    memory: LongTermMemory, keep: Keep, distil: Distil
) -> None:
    await both(memory)
    before = await memory.fetch("a", ["b_c"])
    deleted = await memory.delete("a_b", "b_c")
    assert not deleted.found
    assert "b_c" not in deleted.nearest
    assert await memory.undo("a_b", "b_c") is None
    await memory.note_recall("a_b", await memory.search("a", "the number of my safe"))
    distil({SECRET: "b_c", "My safe opens with 4712.": "b_c"}, "update")
    assert (await keep(SECRET, user_id="a_b")).outcome == "new", (
        "the same text of another user is not a duplicate"
    )
    assert (await keep("My safe opens with 4712.", user_id="a_b")).outcome == "replaced"
    assert await memory.fetch("a", ["b_c"]) == before
    assert (await memory.delete("a_b", "b_c")).found
    assert await memory.fetch("a", ["b_c"]) == before


async def test_p48_a_deleted_memory_is_not_found_anywhere(
    memory: LongTermMemory, keep: Keep, distil: Distil
) -> None:
    distil({SECRET: "safe", "I like tea.": "tea"})
    await keep(SECRET, 5)
    await keep("I like tea.")
    assert (await memory.delete("ada", "safe")).found
    assert [f.memory.memory_id for f in await memory.search("ada", SECRET)] in ([], ["tea"])
    assert await memory.recall("ada", SECRET) == ["tea"]
    assert await memory.fetch("ada", ["safe"]) == []
    assert await facts_of(memory) == ["I like tea."]
    deleted = await memory.delete("ada", "saf")
    assert (deleted.found, "safe" in deleted.nearest) == (False, False)


async def test_deleting_an_unknown_id_suggests_similar_ones(memory: LongTermMemory) -> None:
    await memory.import_many(
        [stored(f"Fact {name}.", memory_id=name) for name in ("home_city", "home_town", "tea")]
    )
    deleted = await memory.delete("ada", "home_citi")
    assert not deleted.found
    assert list(deleted.nearest) == ["home_city", "home_town"]
