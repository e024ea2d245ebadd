"""Distillation: a model assigns an id and tags to a new fact and compares it with similar facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel, ValidationError, field_validator

from cognition.memory.long_term.memory import Memory, Origin, derived_id, normalized, snake_case, tidy_name
from cognition.memory.long_term.prompts import FILE, JUDGE, file_request, judge_request
from cognition.messages.history import split_turns
from cognition.models.client import Models
from cognition.models.outcome import Answer
from cognition.text.sanitize import clean

WINDOW_TURNS = 20
WINDOW_CHARACTERS = 8_000
"""Maximum part of a conversation to read for a fact: its newest turns and characters."""

SECONDS: Final = 30.0
"""Timeout of a distillation call, retries included. Short, because the user's other writes wait for it."""

MIN_WORD_SHARE = 0.6
"""Minimum share of a fact's words used by the user, to attribute it to the user without a model."""


DISTILLED: Final = "distilled"
"""Key in a tool result's artifact: the distillation model has read the turns up to this result.

The mark is stored in the thread, so that it takes effect with the write, applies to each branch of the
conversation separately, and is deleted with the thread.
"""


@dataclass(frozen=True)
class Classification:
    """The classification of a fact.

    Attributes:
        memory_id: The id of an existing memory, or a new id.
        tags: The topics of the fact.
        origin: The source of the fact.
        distilled: True if the model read the turns.
    """

    memory_id: str
    tags: list[str]
    origin: Origin
    distilled: bool


class Filing(BaseModel):
    """The model's classification of a fact."""

    memory_id: str
    tags: list[str] = []
    origin: Origin | None = None

    @field_validator("memory_id")
    @classmethod
    def _normalize_id(cls, value: str) -> str:
        if not (name := snake_case(value)):
            msg = f"invalid id {value!r}"
            raise ValueError(msg)
        return name

    @field_validator("tags")
    @classmethod
    def _normalize_tags(cls, value: list[str]) -> list[str]:
        return list(dict.fromkeys(tag for tag in (tidy_name(tag).lower()[:40] for tag in value) if tag))[:4]


class Verdict(BaseModel):
    """The model's verdict on a newer fact that is similar to an older one."""

    verdict: Literal["same", "merge", "update", "distinct"]
    text: str = ""


class Distiller:
    """The distillation model, with a fallback for when it is unavailable."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def file(self, fact: str, turns: Sequence[AnyMessage], nearest: Sequence[Memory]) -> Classification:
        """Classify a fact. Without a model, its id is derived from its text."""
        known = [(memory.memory_id, memory.fact) for memory in nearest]
        answer = await self._ask(FILE, file_request(fact, window_text(turns), known))
        try:
            filing = Filing.model_validate_json(_json(answer))
        except ValidationError:
            return Classification(derived_id(fact), [], guess_origin(fact, turns), distilled=False)
        origin = filing.origin or guess_origin(fact, turns)
        return Classification(filing.memory_id, filing.tags, origin, distilled=True)

    async def judge(self, older: str, newer: str) -> Verdict:
        """Compare a newer fact with an older one. Without a model, the newer fact replaces the older one."""
        answer = await self._ask(JUDGE, judge_request(older, newer))
        try:
            verdict = Verdict.model_validate_json(_json(answer))
        except ValidationError:
            return Verdict(verdict="update")
        return verdict.model_copy(update={"text": clean(verdict.text).strip()})

    async def _ask(self, system: str, request: str) -> str:
        messages: list[AnyMessage] = [SystemMessage(system), HumanMessage(request)]
        outcome = await self._models.call("MODEL_DISTILLATION", messages, seconds=SECONDS)
        return outcome.text if isinstance(outcome, Answer) else ""


def turn_window(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the current turn and the complete turns before it that were not yet distilled.

    Args:
        messages: The messages of the thread, oldest first.
    """
    *earlier, current = split_turns(messages)[-WINDOW_TURNS:] or [[]]
    window = current
    for turn in reversed(earlier):
        if any(map(_marks_distilled, turn)):
            break
        if isinstance(turn[-1], AIMessage) and not turn[-1].tool_calls:
            window = [*turn, *window]
    return window


def window_text(turns: Sequence[AnyMessage]) -> str:
    """Format turns as lines of speaker and text, cut to the newest part. Attachments appear by name."""
    lines = []
    for message in turns:
        if isinstance(message, (HumanMessage, AIMessage)):
            text = " ".join(filter(None, [message.text.strip(), *_attachments(message)]))
            if text:
                lines.append(f"{'user' if isinstance(message, HumanMessage) else 'assistant'}: {text}")
    return "\n".join(lines)[-WINDOW_CHARACTERS:]


def guess_origin(fact: str, turns: Sequence[AnyMessage]) -> Origin:
    """Return the origin of a fact based on its words: the user's if the user wrote most of them."""
    texts = [message.text for message in turns if isinstance(message, HumanMessage)]
    words, user_words = _words(fact), {word for text in texts for word in _words(text)}
    verbatim = any(normalized(fact) in normalized(text) for text in texts)
    mostly = len(words & user_words) >= MIN_WORD_SHARE * len(words)
    return "user" if words and (verbatim or mostly) else "assistant"


def _marks_distilled(message: AnyMessage) -> bool:
    if not isinstance(message, ToolMessage) or not isinstance(message.artifact, dict):
        return False
    return bool(message.artifact.get(DISTILLED))


def _words(text: str) -> set[str]:
    letters = "".join(char if char.isalnum() else " " for char in normalized(text))
    return {word for word in letters.split() if len(word) > 2} or set(letters.split())


def _attachments(message: AnyMessage) -> list[str]:
    if isinstance(message.content, str):
        return []
    media = [part for part in message.content if isinstance(part, dict) and part.get("type") != "text"]
    names = [part.get("name") or part.get("filename") or part.get("type") for part in media]
    return [f"[attachment: {name}]" for name in names if name not in ("thinking", "reasoning")]


def _json(answer: str) -> str:
    """Return the JSON object in an answer, which a model may have wrapped in a code fence."""
    start, end = answer.find("{"), answer.rfind("}")
    return answer[start : end + 1]
