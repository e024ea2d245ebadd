"""Tests of a large source whose background embedding fails."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from cognition.embedding.embedder import TextRole, Vectors
from cognition.memory.session import saver as saving
from cognition.memory.session.store import SessionMemory
from cognition.services import Services

TEXT = "\n\n".join(
    f"The chronicle says of year {n} that {n * 7} ships lay in the harbour." for n in range(60)
)


@pytest.fixture
async def broken(services: Services, monkeypatch: pytest.MonkeyPatch) -> SessionMemory:
    """Session memory whose model fails to embed passages until the monkeypatch is undone."""
    monkeypatch.setattr(saving, "LARGE", 1_000)
    session = await services.session()
    embed = session._embedder.embed

    def fail_on_passages(texts: Sequence[str], role: TextRole) -> Vectors:
        if role == "passage":
            raise MemoryError("no memory for a batch")
        return embed(texts, role)

    monkeypatch.setattr(session._embedder, "embed", fail_on_passages)
    return session


async def save_and_fail(session: SessionMemory) -> None:
    saved = await session.save("ada", "c", "chronicle", TEXT)
    assert saved.state == "INDEXING"
    with suppress(MemoryError):  # it may already have failed
        await session.wait_until_indexed()
    source = await session.source("ada", "c", "chronicle")
    assert source
    assert (source.state, source.embedded) == ("INDEXING", 0)


async def is_complete(session: SessionMemory) -> bool:
    await session.wait_until_indexed()
    source = await session.source("ada", "c", "chronicle")
    assert source
    vectors = await session.vectors("ada", "c", "chronicle", range(source.chunks))
    return (source.state, source.embedded, len(vectors)) == ("READY", source.chunks, source.chunks)


async def test_a_failure_is_logged_and_lexical_search_works(
    broken: SessionMemory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        await save_and_fail(broken)
    assert "no memory for a batch" in caplog.text
    result = await broken.search("ada", "c", "chronicle of year 41")
    assert [source.source_id for source in result.indexing] == ["chronicle"]
    assert "year 41" in result.passages[0].text


async def test_the_next_search_resumes_embedding(
    broken: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save_and_fail(broken)
    monkeypatch.undo()
    await broken.search("ada", "c", "harbour")
    assert await is_complete(broken)


async def test_the_next_start_resumes_embedding(
    broken: SessionMemory, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save_and_fail(broken)
    await services.aclose()
    monkeypatch.undo()
    assert await is_complete(await services.session())


async def test_p48_a_source_deleted_while_it_is_embedded_stays_deleted(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "LARGE", 1_000)
    session = await services.session()
    for source_id in ("a", "b"):
        await session.save("ada", "c", source_id, f"{source_id}\n\n{TEXT}")
    assert await session.delete("ada", "c", "a") > 1
    await session.wait_until_indexed()
    listing: Any = await session.sources("ada", "c")
    assert [(source.source_id, source.state) for source in listing.sources] == [("b", "READY")]
    results = await asyncio.gather(*(session.search("ada", "c", "harbour", limit=100) for _ in range(3)))
    assert {passage.first.source_id for one in results for passage in one.passages} == {"b"}
