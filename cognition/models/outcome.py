"""An answer of a model or why there is none: providers report most failures as an empty message."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from langchain_core.messages import AIMessage

from cognition.errors import CognitionError
from cognition.levels import Role

FailureKind = Literal["blocked", "malformed", "truncated", "unavailable", "refused"]

_BLOCKED: Final = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "CONTENT_FILTER"}
)
_TRUNCATED: Final = frozenset({"MAX_TOKENS", "LENGTH"})


@dataclass(frozen=True)
class Answer:
    """What a model said, and which one."""

    message: AIMessage
    role: Role
    model: str
    seconds: float
    calls: int = 0
    """How often models were asked for it, in vain too."""
    fallbacks: tuple[str, ...] = ()
    """The models that were down before this one answered."""

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.message.text


@dataclass(frozen=True)
class Failure:
    """Why there is no answer, in a sentence for the user."""

    kind: FailureKind
    sentence: str
    role: Role
    model: str
    seconds: float = 0.0
    calls: int = 0
    """How often models were asked in vain."""


class UnusableAnswer(CognitionError):
    """A model answered, but not with something that a turn can go on with."""

    kind: FailureKind = "malformed"


class Blocked(UnusableAnswer):
    """The provider withheld the answer; asking again gives the same."""

    kind = "blocked"


class Malformed(UnusableAnswer):
    """An empty answer or a broken function call; asking once more often helps."""

    kind = "malformed"


class Truncated(UnusableAnswer):
    """The answer ended at the model's output limit before it said anything."""

    kind = "truncated"


def finish_reason(message: AIMessage) -> str:
    """Why the model stopped, in capitals; empty when the provider did not say."""
    return _name(message.response_metadata.get("finish_reason"))


def is_truncated(message: AIMessage) -> bool:
    """Whether the text ends where the model's output limit was, not where the answer did."""
    return finish_reason(message) in _TRUNCATED


def check_answer(message: AIMessage) -> AIMessage:
    """Return the message if a turn can go on with it: it has text or a tool call, and can be stored.

    Raises:
        Blocked: The prompt or the answer was withheld.
        Truncated: The output limit came before any text.
        Malformed: Anything else that is empty, or a call with a number that no checkpoint can hold.
    """
    if not all(_is_storable(call["args"]) for call in message.tool_calls):
        msg = "The model called a tool with a number beyond all bounds. Try again."
        raise Malformed(msg)
    if message.tool_calls or message.text.strip():
        return message
    feedback = message.response_metadata.get("prompt_feedback")
    block_reason = _name(feedback.get("block_reason")) if isinstance(feedback, dict) else ""
    reason = finish_reason(message)
    if block_reason or reason in _BLOCKED:
        msg = f"The model's provider withheld the answer ({block_reason or reason}). Put it in other words."
        raise Blocked(msg)
    if reason in _TRUNCATED:
        msg = "The model reached its output limit before it answered. Ask for something shorter."
        raise Truncated(msg)
    msg = f"The model sent back nothing usable ({reason or 'no reason given'}). Try again."
    raise Malformed(msg)


def _is_storable(value: Any) -> bool:
    """Whether msgpack can hold a JSON value: clients make an integer of each whole double, 1e300 too."""
    if isinstance(value, dict):
        return all(map(_is_storable, value.values()))
    if isinstance(value, list):
        return all(map(_is_storable, value))
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 64


def _name(reason: Any) -> str:
    return str(getattr(reason, "value", reason) or "").upper()
