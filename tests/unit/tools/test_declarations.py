"""The tools as Gemini gets them: read from a request that went over the wire."""

from collections.abc import Iterator
from typing import Any

from syrupy.assertion import SnapshotAssertion

from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer, Reply
from graphs.echo import graph
from tests.conftest import LITE

SUBSET = {
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "properties",
    "required",
    "default",
}


async def declared(rehearsal: RehearsalServer, context: BoundContext) -> dict[str, dict[str, Any]]:
    rehearsal.script(LITE, [Reply(text="Hello.")])
    await graph.ainvoke({"messages": [{"role": "user", "content": "Hello"}]}, context=context)
    return rehearsal.requests[-1].tools


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for inner in [*(schema.get("properties") or {}).values(), *filter(None, [schema.get("items")])]:
        yield from schemas(inner)


def check_subset(tools: dict[str, dict[str, Any]]) -> None:
    for name, tool in tools.items():
        assert tool["description"].strip(), name
        for schema in schemas(tool["parameters"]) if "parameters" in tool else ():
            assert set(schema) <= SUBSET, name
            assert schema.get("enum") is None or ("" not in schema["enum"] and schema["enum"]), name
            assert schema["type"].upper() != "OBJECT" or schema["properties"], name
            assert "runtime" not in (schema.get("properties") or {}), name


async def test_p5_every_declaration_is_in_the_subset_that_gemini_takes(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    tools = await declared(rehearsal, context)
    check_subset(tools)


async def test_the_declarations_change_only_on_purpose(
    rehearsal: RehearsalServer, context: BoundContext, snapshot: SnapshotAssertion
) -> None:
    assert await declared(rehearsal, context) == snapshot
