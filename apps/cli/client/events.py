"""The events of a turn or a council, parsed from the stream of a graph."""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk, convert_to_messages

from cognition.errors import CognitionError
from cognition.messages.history import STAMP


@dataclass(frozen=True)
class Token:
    """A piece of text streamed by the model."""

    text: str


@dataclass(frozen=True)
class Notice:
    """An event other than text: a change of level, a tool call, a retry, a memory."""

    event: dict[str, Any]


@dataclass(frozen=True)
class TurnResult:
    """The end of a turn."""

    text: str
    account: dict[str, Any] = field(default_factory=dict)
    """The answer's metadata: levels, calls and tokens, and `error` if no model gave an answer."""


Event = Token | Notice | TurnResult


@dataclass(frozen=True)
class CouncilResult:
    """The end of a council."""

    report: str
    deliberation: dict[str, Any]


MessageContent = str | list[dict[str, Any]]
"""The content of a message: its text, or content blocks as Studio sends them."""


class TurnFailed(CognitionError):
    """A turn or a council that failed. The message says why."""


async def events_of(parts: AsyncIterator[tuple[str, Any]]) -> AsyncGenerator[Event]:
    """Yield the events of a turn. The result comes last, when the stream has ended and the turn is stored.

    Args:
        parts: Pairs of stream mode and data. Messages from a server are dicts instead of objects.

    Raises:
        TurnFailed: If the stream ended without an answer.
    """
    answer: TurnResult | None = None
    async for mode, data in parts:
        match mode:
            case "messages":
                if text := _token_text(*data):
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
    """Yield the events of a council. The result comes last, when the stream has ended.

    Args:
        parts: Pairs of stream mode and data.

    Raises:
        TurnFailed: If the stream ended without a result.
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


def _token_text(chunk: Any, metadata: dict[str, Any]) -> str:
    """Return the text that a level streams.

    The output of models inside tools is skipped, and so are complete messages, which repeat their chunks.
    """
    if not metadata["langgraph_node"].startswith("think_"):
        return ""
    if isinstance(chunk, dict) and chunk["type"] == "AIMessageChunk":
        return AIMessageChunk(content=chunk["content"]).text
    return chunk.text if isinstance(chunk, AIMessageChunk) else ""
