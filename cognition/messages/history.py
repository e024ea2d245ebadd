"""Preparation of a thread for a model call: pairing of calls and results, thought signatures and trimming.

The thread itself is never changed. All functions return copies for one call.
"""

from collections.abc import Sequence
from itertools import chain
from reprlib import repr as short_repr
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from cognition.text.sanitize import clean
from cognition.text.tokens import estimate_tokens

STAMP = "cognition"
"""The key of the project's own entry in a message's `response_metadata`."""

UNANSWERED = "Error: this call was interrupted before it returned a result."
"""The result that is sent for a call without one."""


def prepare_history(
    messages: Sequence[AnyMessage], model: str, max_tokens: int | None = None
) -> list[AnyMessage]:
    """Return the messages to send to `model`: system messages, then complete turns.

    Each turn starts with a user's message, and every call has a result. Blank messages, results without a
    call and messages of unknown types are left out. The newest turn loses the signatures of other models; an
    older turn with answers of another model is reduced to its text.

    Args:
        messages: The thread, oldest first.
        model: The `provider:model` of the call.
        max_tokens: Maximum tokens of the conversation; older turns beyond it are left out. None for no limit.
    """
    system = [m for m in messages if isinstance(m, SystemMessage)]
    turns = split_turns([m for m in messages if not isinstance(m, SystemMessage)])
    if max_tokens is not None:
        turns = trim_turns(turns, max_tokens)
    closed = chain.from_iterable(_closed_turn(turn, model) for turn in turns[:-1])
    newest = chain.from_iterable(_newest_turn(turn, model) for turn in turns[-1:])
    return [*system, *map(_encodable, closed), *map(_encodable, newest)]


def split_turns(messages: Sequence[AnyMessage]) -> list[list[AnyMessage]]:
    """Split messages into turns, each from one user's message to the next. Drop messages before the first."""
    turns: list[list[AnyMessage]] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            if has_content(message):
                turns.append([message])
        elif turns:
            turns[-1].append(message)
    return turns


def trim_turns(turns: list[list[AnyMessage]], max_tokens: int) -> list[list[AnyMessage]]:
    """Return the newest turns that fit a token budget together; always keep the last one."""
    kept, spent = 0, 0
    for turn in reversed(turns):
        spent += sum(map(message_tokens, turn))
        if kept and spent > max_tokens:
            break
        kept += 1
    return turns[len(turns) - kept :]


def strip_signatures(message: AnyMessage) -> AnyMessage:
    """Return a copy without thoughts and thought signatures, for a model that did not issue them."""
    if not isinstance(message, AIMessage):
        return message
    content: str | list[Any] = message.content
    if isinstance(content, list):
        content = [_unsigned(part) for part in content if not _is_thought(part)]
    kwargs = {key: value for key, value in message.additional_kwargs.items() if "signature" not in key}
    return message.model_copy(update={"content": content, "additional_kwargs": kwargs})


def has_media(message: AnyMessage) -> bool:
    """Return True if a user's or tool's message contains anything other than text."""
    parts = [] if isinstance(message, AIMessage) else message.content
    return isinstance(parts, list) and not all(map(_is_text, parts))


def without_media(message: AnyMessage) -> AnyMessage:
    """Return a copy with a text in place of each other part, for a provider that rejects them."""
    if not has_media(message):
        return message
    content = [part if _is_text(part) else _placeholder(part) for part in message.content]
    return message.model_copy(update={"content": content})


def made_by(message: AnyMessage) -> str:
    """Return the `provider:model` that wrote a message, as stamped by `Models`; empty if unknown."""
    return str(message.response_metadata.get(STAMP, {}).get("model", ""))


def has_content(message: AnyMessage) -> bool:
    """Return True if a message has text or other content."""
    if isinstance(message.content, str):
        return bool(message.content.strip())
    return bool(message.text.strip()) or any(
        isinstance(part, dict) and part.get("type") != "text" for part in message.content
    )


def message_tokens(message: AnyMessage) -> int:
    """Estimate the tokens of a message. Media count as 258, Gemini's figure for an image tile."""
    calls = sum(estimate_tokens(str(call["args"])) for call in getattr(message, "tool_calls", ()))
    if isinstance(message.content, str):
        return 4 + calls + estimate_tokens(message.content)
    media = sum(
        1
        for part in message.content
        if isinstance(part, dict) and part.get("type") not in ("text", "thinking")
    )
    return 4 + calls + estimate_tokens(message.text) + 258 * media


def _closed_turn(turn: list[AnyMessage], model: str) -> list[AnyMessage]:
    if any(isinstance(m, AIMessage) and made_by(m) != model for m in turn):
        return [turn[0], *(_text_only(m) for m in turn[1:] if isinstance(m, AIMessage) and m.text.strip())]
    return _paired(turn)


def _newest_turn(turn: list[AnyMessage], model: str) -> list[AnyMessage]:
    return [
        strip_signatures(m) if isinstance(m, AIMessage) and made_by(m) != model else m for m in _paired(turn)
    ]


def _paired(turn: list[AnyMessage]) -> list[AnyMessage]:
    """Return the turn with each message of calls followed by exactly its results, in call order."""
    results = _results(turn)
    paired: list[AnyMessage] = []
    for index, message in enumerate(turn):
        if isinstance(message, AIMessage):
            if not message.tool_calls and not has_content(message):
                continue
            paired.append(message)
            for call in message.tool_calls:
                answers = results.get((index, call["id"]), [])
                paired.append(answers.pop(0) if answers else _unanswered(call))
        elif isinstance(message, HumanMessage):
            paired.append(message)
    return paired


def _results(turn: list[AnyMessage]) -> dict[tuple[int, str | None], list[ToolMessage]]:
    """Group results by the index and id of their calls; some providers reuse the same ids in each message."""
    results: dict[tuple[int, str | None], list[ToolMessage]] = {}
    called: dict[str | None, int] = {}
    for index, message in enumerate(turn):
        if isinstance(message, AIMessage):
            called |= {call["id"]: index for call in message.tool_calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in called:
            key = called[message.tool_call_id], message.tool_call_id
            results.setdefault(key, []).append(message)
    return results


def _unanswered(call: ToolCall) -> ToolMessage:
    return ToolMessage(UNANSWERED, tool_call_id=call["id"] or "", name=call["name"])


def _encodable(message: AnyMessage) -> AnyMessage:
    """Return the message without lone surrogates and blank text parts, which no request can contain."""
    content: str | list[Any] = message.content
    if isinstance(message, AIMessage):
        return message
    if isinstance(content, str):
        return (
            message if clean(content) == content else message.model_copy(update={"content": clean(content)})
        )
    parts = [clean(part) if isinstance(part, str) else _cleaned(part) for part in content]
    parts = [part for part in parts if not _is_blank(part)] or parts
    return message if parts == content else message.model_copy(update={"content": parts})


def _is_blank(part: Any) -> bool:
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part
    return isinstance(text, str) and not text.strip()


def _cleaned(part: dict[str, Any]) -> dict[str, Any]:
    text = part.get("text")
    return {**part, "text": clean(text)} if isinstance(text, str) else part


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text")


def _placeholder(part: Any) -> dict[str, Any]:
    kind = str(part.get("type", "")) if isinstance(part, dict) else type(part).__name__
    return {
        "type": "text",
        "text": f"[A part of type {short_repr(kind)} was removed because it could not be read.]",
    }


def _text_only(message: AIMessage) -> AIMessage:
    return AIMessage(message.text, id=message.id)


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("thinking", "reasoning")


def _unsigned(part: Any) -> Any:
    if not isinstance(part, dict) or "signature" not in part.get("extras", {}):
        return part
    return {key: value for key, value in part.items() if key != "extras"}
