"""Events of a turn and of a council, read from a graph's stream."""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk, convert_to_messages

from cognition.errors import CognitionError
from cognition.messages.history import STAMP


@dataclass(frozen=True)
class Token:
    """A piece of text as the model says it."""

    text: str


@dataclass(frozen=True)
class Notice:
    """What happens beside the text: a change of level, a tool, a retry, a memory."""

    event: dict[str, Any]


@dataclass(frozen=True)
class TurnResult:
    """The end of a turn."""

    text: str
    account: dict[str, Any] = field(default_factory=dict)
    """The answer's metadata: levels, calls, tokens; `error` when no model gave an answer."""


Event = Token | Notice | TurnResult


@dataclass(frozen=True)
class CouncilResult:
    """The end of a council."""

    report: str
    deliberation: dict[str, Any]


MessageContent = str | list[dict[str, Any]]
"""A message: its text, or content blocks as Studio sends them."""


class TurnFailed(CognitionError):
    """A turn that broke off; the message says why."""


async def events_of(parts: AsyncIterator[tuple[str, Any]]) -> AsyncGenerator[Event]:
    """The events in a graph's stream, the answer when the stream is over and the turn is stored.

    Args:
        parts: Modes and data; messages may be objects or, from a server, dicts.

    Raises:
        TurnFailed: The stream ended without an answer.
    """
    answer: TurnResult | None = None
    async for mode, data in parts:
        match mode:
            case "messages":
                if text := _said(*data):
                    yield Token(text)
            case "custom":
                yield Notice(data)
            case "updates" if "record" in data:
                message = convert_to_messages(data["record"]["messages"])[-1]
                answer = TurnResult(message.text, message.response_metadata.get(STAMP, {}))
    if answer is None:
        raise TurnFailed("The turn ended without an answer.")
    yield answer


async def council_events_of(parts: AsyncIterator[tuple[str, Any]]) -> AsyncGenerator[Notice | CouncilResult]:
    """The events in a council's stream, the result when the stream is over.

    Args:
        parts: Modes and data.

    Raises:
        TurnFailed: The stream ended without a result.
    """
    state: dict[str, Any] = {}
    async for mode, data in parts:
        if mode == "custom":
            yield Notice(data)
        elif mode == "values":
            state = data
    if not state.get("report"):
        raise TurnFailed("The council ended without a result.")
    yield CouncilResult(state["report"], state["deliberation"])


def _said(chunk: Any, metadata: dict[str, Any]) -> str:
    """What a level says; not what a tool's own model does, nor the whole message once more."""
    if not metadata["langgraph_node"].startswith("think_"):
        return ""
    if isinstance(chunk, dict) and chunk["type"] == "AIMessageChunk":
        return AIMessageChunk(content=chunk["content"]).text
    return chunk.text if isinstance(chunk, AIMessageChunk) else ""
