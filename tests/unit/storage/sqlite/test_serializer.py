from enum import StrEnum
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from pydantic import BaseModel

from cognition.storage.sqlite.checkpointer import ThreadSaver
from cognition.storage.sqlite.serializer import thread_serializer
from tests.unit.storage.sqlite.chat import chat_graph, config_of, question

SIGNED = AIMessage(
    [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "Yes.", "extras": {"signature": "c2ln"}},
    ],
    id="3",
    tool_calls=[{"name": "search", "args": {"query": "tea"}, "id": "c"}],
    additional_kwargs={"__gemini_function_call_thought_signatures__": {"c": "c2ln"}},
    response_metadata={"cognition": {"tokens": {"MODEL_LITE": {"input": 1, "output": 2}}, "cost": None}},
    usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
)
MESSAGES: list[BaseMessage] = [
    SystemMessage("rules", id="1"),
    HumanMessage([{"type": "text", "text": "é\u202e🙂"}], id="2"),
    SIGNED,
    ToolMessage("none", tool_call_id="c", id="4", status="error"),
    RemoveMessage("1"),
]


class Loud(StrEnum):
    YES = "yes"


class Card(BaseModel):
    name: str


@pytest.mark.parametrize("wrap", [list, _DeltaSnapshot, lambda value: {"channel_values": value}])
def test_p1_messages_come_back_as_they_were(wrap: Any) -> None:
    serializer = thread_serializer()
    stored = serializer.dumps_typed(wrap(MESSAGES))
    for _ in range(2):
        assert serializer.loads_typed(stored) == wrap(MESSAGES)


@pytest.mark.parametrize(("foreign", "plain"), [(Loud.YES, "yes"), (Card(name="ada"), {"name": "ada"})])
def test_p27_nothing_but_messages_and_json_is_built_from_a_thread(foreign: object, plain: object) -> None:
    stored = JsonPlusSerializer(allowed_msgpack_modules=True).dumps_typed({"value": foreign})
    read = thread_serializer().loads_typed(stored)["value"]
    assert read == plain
    assert type(read) is type(plain)


async def test_what_is_read_of_a_thread_can_be_changed_without_changing_the_thread(
    saver: ThreadSaver,
) -> None:
    graph, config = chat_graph(saver), config_of("t")
    for number in range(8):
        await graph.ainvoke(question(number), config)
    before = (await graph.aget_state(config)).values["messages"]
    read = (await graph.aget_state(config)).values["messages"]
    for message in read:
        message.content = "changed"
    read.clear()
    assert (await graph.aget_state(config)).values["messages"] == before


def test_p27_no_graph_adds_to_what_may_be_built_from_a_thread() -> None:
    serializer = thread_serializer()
    assert serializer.with_msgpack_allowlist([Card]) is serializer
    stored = JsonPlusSerializer(allowed_msgpack_modules=True).dumps_typed(Card(name="ada"))
    assert serializer.loads_typed(stored) == {"name": "ada"}
