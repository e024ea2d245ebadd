"""Writes that meet: on one event loop, on two, and one that is given up in its middle."""

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
    """Files each fact under one id, without HTTP: a client's connections belong to one event loop."""

    async def call(self, role: Role, messages: Sequence[AnyMessage], **options: Any) -> Answer:
        await asyncio.sleep(0)
        return Answer(AIMessage(FILED.text), role, "scripted", 0.0)


def stall_at_paris(rehearsal: RehearsalServer) -> Event:
    """Let the distillation of Paris never end; the event is set when the model is first asked."""
    asked = Event()

    def say(request: Request) -> Reply:
        asked.set()
        return Reply(failure="stall") if "Paris" in request.texts[-1] else FILED

    rehearsal.script(DISTILLATION, say)
    return asked


async def test_writes_of_two_event_loops_to_one_id_lose_none(services: Services) -> None:
    settings = services.settings
    embedder = await asyncio.to_thread(load_embedder, settings.memory_embedding, settings.home)
    engine = await asyncio.to_thread(services.hold)
    memory = await LongTermMemory.open(engine, embedder, settings, FilesAsOne(settings))

    async def tell(dates: list[str]) -> None:
        await asyncio.gather(*(memory.write("ada", "c", PROFILE, date, 3) for date in dates))

    loops = [Thread(target=asyncio.run, args=[tell(part)]) for part in (DATES[:3], DATES[3:])]
    for loop in loops:
        loop.start()
    for loop in loops:
        await asyncio.to_thread(loop.join)
    (flight,) = (await memory.index("ada")).memories
    assert sorted([flight.fact, *(older["fact"] for older in flight.superseded)]) == sorted(DATES)


async def test_a_write_that_is_cancelled_lets_the_next_one_in(
    rehearsal: RehearsalServer, memory: LongTermMemory, keep: Keep
) -> None:
    asked = stall_at_paris(rehearsal)
    stalled = asyncio.create_task(keep("I live in Paris."))
    waiting = asyncio.create_task(keep("I live in Nice."))
    await asyncio.to_thread(asked.wait)
    stalled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stalled
    assert (await waiting).outcome == "new"
    assert await facts_of(memory) == ["I live in Nice."]


async def test_one_users_slow_write_keeps_no_other_user_waiting(
    rehearsal: RehearsalServer, memory: LongTermMemory, keep: Keep
) -> None:
    asked = stall_at_paris(rehearsal)
    stalled = asyncio.create_task(keep("I live in Paris."))
    await asyncio.to_thread(asked.wait)
    assert (await keep("I live in Nice.", user_id="bob")).outcome == "new"
    assert not stalled.done()
    stalled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stalled
