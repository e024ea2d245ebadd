"""Answers and failures of model calls. Providers report most failures as an empty message."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from langchain_core.messages import AIMessage

from cognition.errors import CognitionError
from cognition.levels import Role

FailureKind = Literal["blocked", "malformed", "truncated", "unavailable", "refused"]
"""`unavailable`: the model is down or slow; `refused`: the request was rejected or could not be sent."""

_BLOCKED: Final = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "CONTENT_FILTER"}
)
_TRUNCATED: Final = frozenset({"MAX_TOKENS", "LENGTH"})


@dataclass(frozen=True)
class Answer:
    """The answer of a model."""

    message: AIMessage
    role: Role
    model: str
    seconds: float
    calls: int = 0
    """Number of model calls, failed ones included."""
    fallbacks: tuple[str, ...] = ()
    """The models that were unavailable before this one answered."""

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.message.text


@dataclass(frozen=True)
class Failure:
    """A model call without an answer; `sentence` explains it to the user."""

    kind: FailureKind
    sentence: str
    role: Role
    model: str
    seconds: float = 0.0
    calls: int = 0
    """Number of failed model calls."""


class UnusableAnswer(CognitionError):
    """An answer of a model that can't be used."""

    kind: FailureKind = "malformed"


class Blocked(UnusableAnswer):
    """The provider withheld the answer; repeating the call does not help."""

    kind = "blocked"


class Malformed(UnusableAnswer):
    """An empty answer or a malformed function call; repeating the call often helps."""

    kind = "malformed"


class Truncated(UnusableAnswer):
    """The model reached its output limit before it produced any text."""

    kind = "truncated"


def finish_reason(message: AIMessage) -> str:
    """Return the finish reason in capitals; empty if the provider gave none."""
    return _name(message.response_metadata.get("finish_reason"))


def is_truncated(message: AIMessage) -> bool:
    """Return True if the answer was cut off at the model's output limit."""
    return finish_reason(message) in _TRUNCATED


def check_answer(message: AIMessage) -> AIMessage:
    """Return the message if it can be used: it has text or a tool call, and can be stored.

    Raises:
        Blocked: If the provider withheld the answer because of the prompt or the answer.
        Truncated: If the model reached its output limit before any text.
        Malformed: If the message is empty for another reason, or a call has a number too large to store.
    """
    if not all(_is_storable(call["args"]) for call in message.tool_calls):
        msg = "The model called a tool with a number that is too large to store. Try again."
        raise Malformed(msg)
    if message.tool_calls or message.text.strip():
        return message
    feedback = message.response_metadata.get("prompt_feedback")
    block_reason = _name(feedback.get("block_reason")) if isinstance(feedback, dict) else ""
    reason = finish_reason(message)
    if block_reason or reason in _BLOCKED:
        msg = f"The model's provider withheld the answer ({block_reason or reason}). Rephrase the request."
        raise Blocked(msg)
    if reason in _TRUNCATED:
        msg = "The model reached its output limit before it answered. Ask for a shorter answer."
        raise Truncated(msg)
    msg = f"The model returned no usable answer ({reason or 'no reason given'}). Try again."
    raise Malformed(msg)


def _is_storable(value: Any) -> bool:
    """Return True if msgpack can store a JSON value. Clients convert whole doubles, even 1e300, to int."""
    if isinstance(value, dict):
        return all(map(_is_storable, value.values()))
    if isinstance(value, list):
        return all(map(_is_storable, value))
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 64


def _name(reason: Any) -> str:
    return str(getattr(reason, "value", reason) or "").upper()
