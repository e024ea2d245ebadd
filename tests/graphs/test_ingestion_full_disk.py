"""Files added while the disk is full: each is reported, none is stored in part, and a later run succeeds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from cognition.ingestion.attachments import Attachment
from cognition.ingestion.intake import open_intake
from cognition.services import Services
from cognition.storage.disk.free_space import DiskFull
from cognition.storage.resources import ResourceTable
from cognition.storage.sqlite.database import Database
from cognition.vectors import Filter
from nodes.ingestion import UNWRITTEN
from tests.graphs.test_ingestion import Give, file, give, row
from tests.unit.storage.test_resources import given

__all__ = ["give"]

FULL = "Free some space and try again; nothing was changed."
LONG = "The fleet of Brest stayed in port until March. " * 2_000


def fill(database: Database) -> None:
    """Stop the database from growing and use up the free space in its pages."""
    (pages,) = database.rows("PRAGMA page_count")[0]
    database.rows(f"PRAGMA max_page_count = {pages}")
    registry = ResourceTable(database)
    with suppress(DiskFull):
        for number in range(1_000):
            registry.add("filler", "f", **given(f"{number}", f"{number:064}"))
    for resource in database.rows("SELECT id FROM resources"):
        with suppress(DiskFull):
            while True:
                grown = "UPDATE resources SET message_id = message_id || 'x' WHERE id = ?"
                database.rows(grown, (resource["id"],))


@asynccontextmanager
async def full_disk(services: Services) -> AsyncIterator[None]:
    database = await services.database()
    await asyncio.to_thread(fill, database)
    yield
    await asyncio.to_thread(database.rows, "PRAGMA max_page_count = 1000000")


def copies(services: Services) -> list[str]:
    """Return the names of all stored files."""
    paths = [path for path in (services.settings.home / "files").rglob("*") if path.is_file()]
    return sorted(path.name for path in paths)


async def test_what_there_is_no_room_for_is_refused_by_its_name_and_taken_when_there_is(
    give: Give, services: Services
) -> None:
    files = [file("a.md", "Buy tea."), file("b.md", "Buy milk.")]
    async with full_disk(services):
        report = await give(*files)
    for one, name in zip(report, ("a.md", "b.md"), strict=True):
        assert (one["name"], one["status"], one["resource_id"]) == (name, "FAILED", "")
        assert one["error"].startswith(f"Could not store {name!r}. No disk space left for '")
        assert one["error"].endswith(FULL)
    registry = await services.registry()
    assert await asyncio.to_thread(registry.find, "ada", "c") == []
    assert copies(services) == []
    again = await give(*files)
    assert [one["status"] for one in again] == ["PUT_IN_CONTEXT"] * 2
    assert copies(services) == ["a.md", "b.md", "text.md", "text.md"]


async def test_what_the_chat_has_already_is_there_as_before(give: Give, services: Services) -> None:
    (known,) = await give(file("a.md", "Buy tea."))
    async with full_disk(services):
        same, new = await give(file("again.md", "Buy tea."), file("b.md", "Buy milk."))
    assert (same["resource_id"], same["known"]) == (known["resource_id"], True)
    assert same["status"] == "PUT_IN_CONTEXT"
    assert new["error"].endswith(FULL)
    assert copies(services) == ["a.md", "text.md"]


@pytest.mark.parametrize("text", ["Buy tea.", LONG], ids=["short", "long"])
async def test_what_was_accepted_before_the_disk_was_full_is_done_when_there_is_room(
    give: Give, services: Services, text: str
) -> None:
    intake = await open_intake(services)
    resource, _ = await asyncio.to_thread(intake.take, "ada", "c", Attachment("a.md", text.encode()))
    async with full_disk(services):
        (entry,) = await give({"resource_id": resource.id})
        session = await services.session()
        sources = (await session.sources("ada", "c")).sources
        assert [source.state for source in sources] in ([], ["READY"])
        assert await session._collection.count(Filter("ada")) == sum(source.chunks for source in sources)
    assert (entry["status"], entry["error"]) == ("PENDING_INGESTION", UNWRITTEN)
    (again,) = await give({"resource_id": resource.id})
    assert again["error"] == ""
    assert again["status"] == ("VECTORIZED_SUM_UP" if text == LONG else "PUT_IN_CONTEXT")
    assert services.files.text(await row(services, again)).read_text() == text
    (copy,) = (Path(services.settings.home) / resource.storage_path).parent.iterdir()
    assert copy.name == "a.md"
