"""A graph like echo without a model: one question, one answer and some metadata per turn.

Run a conversation: python -m tests.unit.storage.sqlite.chat HOME THREAD TURNS
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from cognition.messages.reducer import fold_messages
from cognition.storage.sqlite.checkpointer import open_checkpointer


class Chat(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(fold_messages, snapshot_frequency=7)]
    turn: dict[str, Any]


def perceive(state: Chat) -> Chat:
    return {"turn": {"calls": {}, "said": state["messages"][-1].text[:8]}}


def think(state: Chat) -> Chat:
    request = state["messages"][-1]
    answer = AIMessage(f"re {request.text}", id=f"a{request.id}")
    return {"messages": [answer], "turn": {"calls": {"LITE": 1}}}


def record(state: Chat) -> Chat:
    answer = state["messages"][-1]
    stamped = answer.model_copy(update={"response_metadata": {"cognition": state["turn"]}})
    return {"messages": [stamped]}


def chat_graph(saver: BaseCheckpointSaver[str]) -> Any:
    return (
        StateGraph(Chat)
        .add_node("perceive", perceive)
        .add_node("think", think)
        .add_node("record", record)
        .add_edge(START, "perceive")
        .add_edge("perceive", "think")
        .add_edge("think", "record")
        .compile(checkpointer=saver)
    )


def config_of(thread: str, run: str = "") -> Any:
    return {"configurable": {"thread_id": thread}, "metadata": {"run_id": run} if run else {}}


def question(number: int, padding: str = "") -> dict[str, Any]:
    return {"messages": [HumanMessage(f"q{number}{padding}", id=str(number))]}


def conversation(turns: int) -> list[str]:
    """Return the messages of a thread after `turns` turns."""
    return [text for number in range(turns) for text in (f"q{number}", f"re q{number}")]


async def go_on(home: Path, thread: str, turns: int, trace: Callable[[str], None] | None = None) -> list[str]:
    """Finish the run of a killed process, continue until there are `turns` turns, return all messages."""
    async with open_checkpointer(home) as saver:
        if trace:
            await saver.conn.set_trace_callback(trace)
        graph, config = chat_graph(saver), config_of(thread)
        # Not `next`: it omits a step that has ended but whose result is not in a checkpoint yet.
        if (await graph.aget_state(config)).tasks:
            await graph.ainvoke(None, config)
        for number in range(len(await texts_of(graph, config)) // 2, turns):
            await graph.ainvoke(question(number), config)
        return await texts_of(graph, config)


async def texts_of(graph: Any, config: Any) -> list[str]:
    state = await graph.aget_state(config)
    return [message.text for message in state.values.get("messages", [])]


if __name__ == "__main__":
    asyncio.run(go_on(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
