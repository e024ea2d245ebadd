"""Tests that the stores use indexed fields only, as a Qdrant server in strict mode requires (P44)."""

from typing import Any

import pytest

from cognition.dates import read_period
from cognition.embedding import Stamp
from cognition.memory.long_term import memory as artifact
from cognition.memory.session import chunk as fragment
from cognition.services import Services
from cognition.vectors import CollectionSpec, Filter
from cognition.vectors.embedded import requests
from cognition.vectors.embedded.engine import EmbeddedCollection
from tests.unit.memory.conftest import PROFILE

STAMP = Stamp("any", "1", 4)
EVER = read_period("2000", "2100")


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the set of fields used in filters, facets and orders."""
    fields: set[str] = set()
    condition, facet, scroll = requests.condition, EmbeddedCollection._facet, EmbeddedCollection.scroll

    def note_condition(where: Filter) -> Any:
        fields.update(where.equals, where.without, where.between)
        return condition(where)

    def note_facet(self: EmbeddedCollection, where: Filter, field: str, **options: Any) -> Any:
        fields.add(field)
        return facet(self, where, field, **options)

    async def note_scroll(self: EmbeddedCollection, where: Filter, limit: int, **options: Any) -> Any:
        fields.update(filter(None, [options.get("order_by")]))
        return await scroll(self, where, limit, **options)

    monkeypatch.setattr(requests, "condition", note_condition)
    monkeypatch.setattr(EmbeddedCollection, "_facet", note_facet)
    monkeypatch.setattr(EmbeddedCollection, "scroll", note_scroll)
    return fields


def indexed(spec: CollectionSpec) -> set[str]:
    return {*spec.keywords, *spec.integers, *spec.floats}


async def test_p44_long_term_memory_uses_indexed_fields_only(services: Services, used: set[str]) -> None:
    memory = await services.memory()
    written = await memory.write("ada", "chat", PROFILE, "I live in Lyon.", 5)
    await memory.write("ada", "chat", PROFILE, "I live in Lyons.", 3)
    found = await memory.search("ada", "Where do I live?", artifact_name=PROFILE, period=EVER)
    await memory.note_recall("ada", found)
    await memory.recall("ada", "Where do I live?")
    await memory.index("ada", artifact_name=PROFILE, period=EVER)
    await memory.undo("ada", written.memory.memory_id)
    await memory.delete("ada", written.memory.memory_id)
    await memory.delete("ada", "nothing")
    assert {"artifact_name", "memory_importance", "updated_at", "tags", "language"} <= used
    assert used <= indexed(artifact.collection_spec(STAMP))


async def test_p44_session_memory_uses_indexed_fields_only(services: Services, used: set[str]) -> None:
    session = await services.session()
    for text in ("The bridge was built in 1889. ", "The bridge was built in 1890. "):
        await session.save("ada", "chat", "bridge", text * 30)
    await session.search("ada", "chat", "When was the bridge built?", period=EVER)
    await session.search("ada", "chat", "When was the bridge built?", source_id="bridge", everywhere=True)
    await session.sources("ada", "chat", period=EVER)
    await session.delete("ada", "chat", "bridge")
    await session.purge("ada", "chat")
    assert "chat_id" in used
    assert used <= indexed(fragment.collection_spec(STAMP))
