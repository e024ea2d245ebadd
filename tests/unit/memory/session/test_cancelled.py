"""Session memory when whoever waits for it gives up, however often that is said."""

import asyncio
import time
from threading import Event
from typing import Any

import pytest

from cognition.errors import InvalidInput
from cognition.memory.session.store import SessionMemory
from cognition.services import Services
from cognition.vectors import Filter
from tests.unit.memory.session.test_conversation import THREAD


@pytest.fixture
async def session(services: Services) -> SessionMemory:
    return await services.session()


async def test_p60_a_save_that_is_cancelled_again_and_again_leaves_nothing(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = Event(), Event()
    upsert = session._collection._upsert  # type: ignore[attr-defined]

    def slow(points: Any) -> None:
        begun.set()
        go_on.wait(10)
        upsert(points)

    monkeypatch.setattr(session._collection, "_upsert", slow)
    saving = asyncio.ensure_future(session.save("ada", "c", "cats", "The cat Mitsou sleeps on the roof."))
    await asyncio.to_thread(begun.wait)
    for _ in range(5):
        saving.cancel()
        await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await saving
    monkeypatch.undo()
    await session.save("ada", "c", "ships", "The harbour of Rotterdam unloads ships.")
    assert await session._collection.count(Filter("ada")) == 1


async def test_a_source_that_is_being_saved_for_the_first_time_is_not_there_to_be_deleted(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = session._catalogue.finish

    def finishes(*args: Any, **own: Any) -> bool:
        assert session._catalogue.remove("ada", "c", "cats") is None
        return finish(*args, **own)

    monkeypatch.setattr(session._catalogue, "finish", finishes)
    await session.save("ada", "c", "cats", "The cat Mitsou sleeps on the roof.")
    assert (await session.sources("ada", "c")).total == 1


async def test_p55_turns_that_were_stored_while_the_session_was_closed_are_not_marked(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    upsert = session._collection.upsert

    async def closing(points: Any) -> None:
        await upsert(points)
        await asyncio.to_thread(session._catalogue.remove, "ada", "c")

    monkeypatch.setattr(session._collection, "upsert", closing)
    with pytest.raises(InvalidInput):
        await session.conversation.index("ada", "c", THREAD)
    monkeypatch.undo()
    assert await session.conversation.index("ada", "c", THREAD) == 3


async def test_who_gives_up_waiting_does_not_end_the_embedding(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cognition.memory.session.saver.LARGE", 1_000)
    text = "\n\n".join(
        f"Paragraph {n} says that the anchor of number {n} weighs {n} tons." for n in range(300)
    )
    await session.save("ada", "c", "anchors", text)
    waiting = asyncio.ensure_future(session.indexed())
    await asyncio.sleep(0)
    waiting.cancel()
    deadline = time.monotonic() + 30
    while (await session.sources("ada", "c")).sources[0].state != "READY":
        assert time.monotonic() < deadline
        await session.source("ada", "c", "anchors")
