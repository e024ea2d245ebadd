"""Turns with slow files, and sessions closed during a turn."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from threading import Event
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.embedding.embedder import TextRole, Vectors
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.sessions import close_session
from cognition.settings import Settings
from cognition.vectors import Filter
from graphs.echo import graph
from nodes import attachments as arrivals
from tests.conftest import DISTILLATION, LITE
from tests.graphs.test_echo_files import attached
from tests.graphs.test_echo_sessions import CONFIG, say

LOG = "\n\n".join(f"On day {n} the harbour froze {n * 3} times." for n in range(120))


@pytest.fixture
async def services(make_settings: Callable[..., Settings]) -> AsyncIterator[Services]:
    """Services that put nearly every file into session memory."""
    services = Services(make_settings(context_file_bytes=100, recall=False))
    yield services
    await services.aclose()


@pytest.fixture
async def gate(services: Services, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Event]:
    """An event that holds back the embedding of passages until it is set."""
    gate, session = Event(), await services.session()
    embed = session._embedder.embed

    def wait(given: Sequence[str], role: TextRole) -> Vectors:
        if role == "passage":
            gate.wait(60)
        return embed(given, role)

    monkeypatch.setattr(session._embedder, "embed", wait)
    yield gate
    gate.set()


@pytest.fixture
def echo(rehearsal: RehearsalServer) -> Any:
    rehearsal.script(LITE, [Reply(text="I see.")])
    rehearsal.script(DISTILLATION, [Reply(text="A log of frost.")])
    return graph.copy(update={"checkpointer": InMemorySaver()})


async def test_a_turn_goes_on_without_a_file_that_takes_too_long_and_the_job_goes_on_too(
    rehearsal: RehearsalServer,
    context: BoundContext,
    services: Services,
    echo: Any,
    gate: Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert arrivals.PATIENCE_SECONDS == 20
    monkeypatch.setattr(arrivals, "PATIENCE_SECONDS", 0.1)
    await echo.ainvoke(attached("How often?", LOG, "log.md"), CONFIG, context=context)
    await echo.ainvoke(say("And now?"), CONFIG, context=context)
    for request in rehearsal.requests:
        assert "PENDING_INGESTION: log.md" in request.texts[-1]
        assert "smart_context" not in str(request.body)
    gate.set()
    await services.jobs.finish()
    await echo.ainvoke(say("And now?"), CONFIG, context=context)
    last = rehearsal.requests[-1]
    assert "VECTORIZED_SUM_UP: log.md" in last.texts[-1]
    assert "A log of frost." in last.texts[0]
    await echo.ainvoke(say("Nothing new?"), CONFIG, context=context)
    assert "evenement_systeme" not in rehearsal.requests[-1].texts[-1]


async def test_p60_a_turn_waits_for_a_file_that_another_turn_is_at(
    rehearsal: RehearsalServer, context: BoundContext, services: Services, echo: Any, gate: Event
) -> None:
    """Open the gate once the second turn has found the job of the first."""
    at = services.jobs.jobs_on

    def found(ids: Sequence[str]) -> set[asyncio.Task[Any]]:
        if tasks := at(ids):
            gate.set()
        return tasks

    services.jobs.jobs_on = found  # type: ignore[method-assign, assignment]
    turns = [
        echo.ainvoke(attached("How often?", LOG, name), CONFIG, context=context) for name in ("a.md", "b.md")
    ]
    await asyncio.gather(*turns)
    assert gate.is_set()
    answered = [request for request in rehearsal.requests if request.model == LITE]
    assert len(answered) == 2
    assert all("A log of frost." in str(request.body) for request in answered)
    assert len([r for r in rehearsal.requests if r.model == DISTILLATION]) == 1
    session = await services.session()
    assert (await session.sources("ada", "t")).total <= 2  # the file, and the conversation if indexed


async def test_p48_a_session_closed_while_a_file_is_embedded_leaves_nothing(
    context: BoundContext,
    services: Services,
    echo: Any,
    gate: Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrivals, "PATIENCE_SECONDS", 0.1)
    await echo.ainvoke(attached("How often?", LOG, "log.md"), CONFIG, context=context)
    closing = asyncio.ensure_future(close_session(services, "ada", "t"))
    gate.set()
    await closing
    await services.jobs.finish()
    session, registry = await services.session(), await services.registry()
    assert (await session.sources("ada", "t")).total == 0
    assert await session._collection.count(Filter("ada")) == 0
    assert await asyncio.to_thread(registry.find, "ada", "t") == []
    assert [path for path in (services.settings.home / "files").rglob("*") if path.is_file()] == []


async def test_a_turn_that_was_closed_before_it_was_indexed_is_indexed_by_the_next(
    context: BoundContext, services: Services, echo: Any
) -> None:
    await echo.ainvoke(say("The harbour froze."), CONFIG, context=context)
    await close_session(services, "ada", "t")
    await services.jobs.finish()
    session = await services.session()
    assert (await session.sources("ada", "t")).total == 0
    await echo.ainvoke(say("Go on."), CONFIG, context=context)
    await services.jobs.finish()
    found = await session.search("ada", "t", "harbour", source_id="conversation_history")
    assert "The harbour froze." in "".join(passage.text for passage in found.passages)
