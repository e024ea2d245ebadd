"""The registry of resources: no duplicates within a chat, isolation between users, newest first."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cognition.errors import InvalidInput
from cognition.storage.resources import ResourceTable, native_id
from cognition.storage.sqlite.database import Database


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ResourceTable]:
    database = Database(tmp_path)
    yield ResourceTable(database)
    database.close()


def given(name: str = "notes.md", sha256: str = "", **own: Any) -> dict[str, Any]:
    content = {
        "resource_type": "text",
        "mime": "text/markdown",
        "size": 3,
        "sha256": sha256 or f"sha of {name}",
    }
    return {"name": name, **content, **own}


def test_an_id_is_native_plain_and_unique_within_a_millisecond(registry: ResourceTable) -> None:
    added = [registry.add("ada/../é", "chat 1", **given(str(number)))[0] for number in range(500)]
    assert len({row.id for row in added}) == 500
    assert all(re.fullmatch(r"U_ada-_C_chat-1_T_\d{13}", row.id) for row in added)
    assert len(native_id("u" * 9_000, "c" * 9_000, 1)) < 200


def test_users_whose_plain_names_are_alike_and_threads_at_once_get_ids_of_their_own(tmp_path: Path) -> None:
    databases = [Database(tmp_path) for _ in range(3)]  # like three processes
    registries = [ResourceTable(database) for database in databases]

    def add(number: int) -> str:
        registry = registries[number % 3]
        return registry.add("a/b" if number % 2 else "a b", "c", **given(str(number)))[0].id

    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(add, range(120)))
    assert len(set(ids)) == 120
    for database in databases:
        database.close()


def test_p60_a_content_is_there_once_in_a_chat_whatever_its_name(registry: ResourceTable) -> None:
    first, new = registry.add("ada", "c", **given("a.md", "same"))
    again, newer = registry.add("ada", "c", **given("b.md", "same"))
    assert (new, newer) == (True, False)
    assert again == first
    assert registry.add("ada", "other", **given("a.md", "same"))[1]
    assert registry.add("bob", "c", **given("a.md", "same"))[1]
    assert [row.name for row in registry.find("ada", "c")] == ["a.md"]


def test_p46_the_newest_comes_first_and_what_is_asked_for_is_found(registry: ResourceTable) -> None:
    for name, kind in (("Été.pdf", "document"), ("b.png", "image"), ("c.txt", "text")):
        registry.add("ada", "c", **given(name, resource_type=kind))
    png = registry.find("ada", "c", resource_type="image")[0]
    registry.update("ada", png.id, status="INDEXED", error="no model", summary="A RED fox")
    assert [row.name for row in registry.find("ada", "c")] == ["c.txt", "b.png", "Été.pdf"]
    assert [row.name for row in registry.find("ada", "c", term="red F")] == ["b.png"]
    assert [row.name for row in registry.find("ada", "c", term="été")] == ["Été.pdf"]
    assert [row.name for row in registry.find("ada", "c", status="INDEXED")] == ["b.png"]
    assert registry.find("ada", "c", term="%") == []


def test_a_change_leaves_the_rest_and_says_when_it_was(registry: ResourceTable) -> None:
    row, _ = registry.add("ada", "c", **given())
    changed = registry.update("ada", row.id, status="VECTORIZED_SUM_UP", chunks=7)
    assert changed is not None
    assert (changed.status, changed.chunks, changed.name) == ("VECTORIZED_SUM_UP", 7, "notes.md")
    assert changed.updated_at > row.updated_at
    assert registry.update("ada", "none", chunks=1) is None


def test_p47_no_path_leads_to_another_users_resource(registry: ResourceTable) -> None:
    row, _ = registry.add("ada", "c", **given())
    assert registry.get("bob", row.id) is None
    assert registry.update("bob", row.id, status="FAILED") is None
    assert not registry.delete("bob", row.id)
    assert registry.purge("bob", "c") == 0
    assert registry.find("bob", "c") == []
    assert registry.get("ada", row.id) == row
    assert registry.delete("ada", row.id)
    assert registry.get("ada", row.id) is None


@pytest.mark.parametrize("blank", ["", " ", None])
def test_p47_a_missing_user_is_nobody(registry: ResourceTable, blank: Any) -> None:
    row, _ = registry.add("ada", "c", **given())
    calls = [
        lambda: registry.add(blank, "c", **given()),
        lambda: registry.get(blank, row.id),
        lambda: registry.find(blank, "c"),
        lambda: registry.update(blank, row.id, chunks=1),
        lambda: registry.delete(blank, row.id),
        lambda: registry.purge(blank, "c"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="blank"):
            call()
    assert registry.get("ada", row.id) == row


def test_a_missing_chat_is_none(registry: ResourceTable) -> None:
    with pytest.raises(ValueError, match="thread_id"):
        registry.add("ada", " ", **given())


def test_p62_a_purge_takes_one_chat_and_no_other(registry: ResourceTable) -> None:
    for chat in ("one", "two"):
        registry.add("ada", chat, **given("a", "same"))
        registry.add("ada", chat, **given("b"))
    assert registry.purge("ada", "one") == 2
    assert registry.find("ada", "one") == []
    assert len(registry.find("ada", "two")) == 2


def test_a_registry_outlives_its_process(tmp_path: Path) -> None:
    database = Database(tmp_path)
    row, _ = ResourceTable(database).add("ada", "c", **given())
    database.close()
    database = Database(tmp_path)
    assert ResourceTable(database).get("ada", row.id) == row
    database.close()


@pytest.mark.parametrize("chat", ["", " ", None, 7, "a\ud83d"])
def test_p52_a_chat_that_is_none_is_refused_by_its_name(registry: ResourceTable, chat: Any) -> None:
    registry.add("ada", "a?", **given())
    for call in (
        lambda: registry.add("ada", chat, **given()),
        lambda: registry.find("ada", chat),
        lambda: registry.purge("ada", chat),
    ):
        with pytest.raises(InvalidInput, match=r"^Invalid chat "):
            call()
    assert len(registry.find("ada", "a?")) == 1


def test_p52_half_a_character_finds_nothing_and_is_kept_as_a_question_mark(registry: ResourceTable) -> None:
    half = "a\ud83d"
    row, _ = registry.add("ada", "c", **given(message_id=half))
    assert registry.get("ada", half) is None
    assert registry.update("ada", half, chunks=1) is None
    assert not registry.delete("ada", half)
    assert registry.find("ada", "c", term=half) == []
    assert registry.find("ada", "c", resource_type=half, status=half) == []
    changed = registry.update("ada", row.id, summary=half, error=half)
    assert changed
    assert (changed.message_id, changed.summary, changed.error) == ("a?", "a?", "a?")
