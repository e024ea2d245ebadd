"""Tests of cancelled calls to session memory, including repeated cancellation."""

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


async def test_p60_a_repeatedly_cancelled_save_leaves_nothing(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, proceed = Event(), Event()
    upsert = session._collection._upsert  # type: ignore[attr-defined]

    def slow(points: Any) -> None:
        begun.set()
        proceed.wait(10)
        upsert(points)

    monkeypatch.setattr(session._collection, "_upsert", slow)
    saving = asyncio.ensure_future(session.save("ada", "c", "cats", "The cat Mitsou sleeps on the roof."))
    await asyncio.to_thread(begun.wait)
    for _ in range(5):
        saving.cancel()
        await asyncio.sleep(0)
    proceed.set()
    with pytest.raises(asyncio.CancelledError):
        await saving
    monkeypatch.undo()
    await session.save("ada", "c", "ships", "The harbour of Rotterdam unloads ships.")
    assert await session._collection.count(Filter("ada")) == 1


async def test_a_source_being_saved_for_the_first_time_cannot_be_deleted(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = session._catalogue.finish

    def finishes(*args: Any, **own: Any) -> bool:
        assert session._catalogue.remove("ada", "c", "cats") is None
        return finish(*args, **own)

    monkeypatch.setattr(session._catalogue, "finish", finishes)
    await session.save("ada", "c", "cats", "The cat Mitsou sleeps on the roof.")
    assert (await session.sources("ada", "c")).total == 1


async def test_p55_turns_stored_during_a_closure_are_not_marked_as_indexed(
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


async def test_cancelling_the_wait_does_not_cancel_the_embedding(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cognition.memory.session.saver.LARGE", 1_000)
    text = "\n\n".join(
        f"Paragraph {n} says that the anchor of number {n} weighs {n} tons." for n in range(300)
    )
    await session.save("ada", "c", "anchors", text)
    waiting = asyncio.ensure_future(session.wait_until_indexed())
    await asyncio.sleep(0)
    waiting.cancel()
    deadline = time.monotonic() + 30
    while (await session.sources("ada", "c")).sources[0].state != "READY":
        assert time.monotonic() < deadline
        await session.source("ada", "c", "anchors")
