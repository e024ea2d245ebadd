"""Tests of concurrent writes: on one event loop, on two, and with a cancelled write."""

import asyncio
import json
from collections.abc import Sequence
from threading import Event, Thread
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage

from cognition.embedding import load_embedder
from cognition.levels import Role
from cognition.memory.long_term.store import LongTermMemory
from cognition.models.client import Models
from cognition.models.outcome import Answer
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.services import Services
from tests.conftest import DISTILLATION
from tests.unit.memory.conftest import PROFILE, Keep, facts_of

DATES = [f"My flight to Oslo leaves on {day} May." for day in (3, 5, 7, 12, 14, 18)]
FILED = Reply(text=json.dumps({"memory_id": "one", "origin": "user"}))


class FilesAsOne(Models):
    """Models that give every fact the same id. No HTTP: its connections are bound to one event loop."""

    async def call(self, role: Role, messages: Sequence[AnyMessage], **options: Any) -> Answer:
        await asyncio.sleep(0)
        return Answer(AIMessage(FILED.text), role, "scripted", 0.0)


def stall_at_paris(rehearsal: RehearsalServer) -> Event:
    """Make the distillation of Paris hang. The event is set on the first request."""
    requested = Event()

    def say(request: Request) -> Reply:
        requested.set()
        return Reply(failure="stall") if "Paris" in request.texts[-1] else FILED

    rehearsal.script(DISTILLATION, say)
    return requested


async def test_writes_from_two_event_loops_to_one_id_lose_nothing(services: Services) -> None:
    settings = services.settings
    embedder = await asyncio.to_thread(load_embedder, settings.memory_embedding, settings.home)
    engine = await asyncio.to_thread(services.hold)
    memory = await LongTermMemory.open(engine, embedder, settings, FilesAsOne(settings))

    async def write(dates: list[str]) -> None:
        await asyncio.gather(*(memory.write("ada", "c", PROFILE, date, 3) for date in dates))

    loops = [Thread(target=asyncio.run, args=[write(part)]) for part in (DATES[:3], DATES[3:])]
    for loop in loops:
        loop.start()
    for loop in loops:
        await asyncio.to_thread(loop.join)
    (flight,) = (await memory.index("ada")).memories
    assert sorted([flight.fact, *(older["fact"] for older in flight.superseded)]) == sorted(DATES)


async def test_a_cancelled_write_releases_the_next_one(
    rehearsal: RehearsalServer, memory: LongTermMemory, keep: Keep
) -> None:
    requested = stall_at_paris(rehearsal)
    stalled = asyncio.create_task(keep("I live in Paris."))
    waiting = asyncio.create_task(keep("I live in Nice."))
    await asyncio.to_thread(requested.wait)
    stalled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stalled
    assert (await waiting).outcome == "new"
    assert await facts_of(memory) == ["I live in Nice."]


async def test_a_slow_write_does_not_block_other_users(
    rehearsal: RehearsalServer, memory: LongTermMemory, keep: Keep
) -> None:
    requested = stall_at_paris(rehearsal)
    stalled = asyncio.create_task(keep("I live in Paris."))
    await asyncio.to_thread(requested.wait)
    assert (await keep("I live in Nice.", user_id="bob")).outcome == "new"
    assert not stalled.done()
    stalled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stalled
