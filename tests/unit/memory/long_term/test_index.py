"""Tests of the memory index: newest first, by artifact and by period."""

from datetime import UTC, datetime

from cognition.dates import read_period
from cognition.memory.long_term.store import LongTermMemory
from tests.unit.memory.conftest import stored


def at(day: int) -> float:
    return datetime(2024, 5, day, 12, tzinfo=UTC).timestamp()


async def fill(memory: LongTermMemory) -> None:
    days = [7, 3, 30, 1, 12, 25, 18, 9]
    await memory.import_many(
        [
            stored(
                f"Day {day}.",
                memory_id=f"z{day}",
                updated_at=at(day),
                created_at=at(31),
                tags=["odd" if day % 2 else "even"],
                artifact_name="Journal" if day > 9 else "Notes",
            )
            for day in days
        ]
    )


async def test_p46_the_newest_memories_are_listed_first(memory: LongTermMemory) -> None:
    await fill(memory)
    index = await memory.index("ada", limit=3)
    assert [m.memory_id for m in index.memories] == ["z30", "z25", "z18"]
    assert index.total == 8
    assert index.artifacts == {"Journal": 4, "Notes": 4}
    assert index.tags == {"odd": 5, "even": 3}
    assert index.memories[0].updated_on == "2024-05-30"


async def test_a_period_and_an_artifact_narrow_index_and_search(memory: LongTermMemory) -> None:
    await fill(memory)
    period = read_period("2024-05-09", "2024-05-18")
    index = await memory.index("ada", artifact_name=" journal ".title(), period=period)
    assert [m.memory_id for m in index.memories] == ["z18", "z12"]
    assert index.total == 2
    found = await memory.search("ada", "Day 9.", period=period)
    assert {f.memory.memory_id for f in found} <= {"z9", "z12", "z18"}
    assert "z9" in {f.memory.memory_id for f in found}
    assert (await memory.index("ada", period=read_period("", "2024-04"))).total == 0


async def test_a_search_updates_recall_counts_but_recall_does_not(memory: LongTermMemory) -> None:
    await memory.import_many([stored("I live in Lyon.", memory_id="home")])
    await memory.recall("ada", "Where do I live?")
    (home,) = await memory.fetch("ada", ["home"])
    assert (home.recall_count, home.last_recalled_at) == (0, None)
    await memory.note_recall("ada", await memory.search("ada", "I live in Lyon."))
    (home,) = await memory.fetch("ada", ["home"])
    assert home.recall_count == 1
    assert home.last_recalled_at is not None
    assert home.last_recalled_at > home.updated_at
