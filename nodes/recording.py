"""The last step of a turn: seal its account on the answer."""

from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of
from cognition.history import STAMP
from cognition.state import EchoState
from cognition.turn import summary


async def record(state: EchoState, runtime: Runtime[Context]) -> EchoState:
    """Put the turn's account into the answer's metadata, and say in the answer what a spent budget cut."""
    turn = state["turn"]
    answer = _answer(state["messages"])
    stamp = answer.response_metadata.get(STAMP, {})
    level = stamp.get("level", turn["level"])
    account = summary(turn, level, context_of(runtime).services().models.rehearsed)
    content: str | list[Any] = answer.content
    if turn["cut"]:
        note = {"type": "text", "text": f"\n\n(This turn was cut short: {turn['cut']}.)"}
        content = [*([content] if isinstance(content, str) else content), note]
    sealed = answer.model_copy(
        update={
            "content": content,
            "response_metadata": {**answer.response_metadata, STAMP: {**stamp, **account}},
        }
    )
    return {"messages": [sealed]}


def _answer(messages: list[AnyMessage]) -> AIMessage:
    """The turn's last message, or the best text so far when a spent budget left none."""
    newest = messages[-1]
    if isinstance(newest, AIMessage) and not newest.tool_calls:
        return newest
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, AIMessage) and message.text.strip():
            return AIMessage(message.text)
    return AIMessage("I have no answer yet.")
