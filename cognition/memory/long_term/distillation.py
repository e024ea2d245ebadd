"""What a model says of a fact before it is stored: its id, its themes, and what it is to a close one."""

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
"""The most that is read of a conversation for one fact: its newest part."""

SECONDS: Final = 30.0
"""How long the distillation model may take for one answer, retries included: the user's other writes wait."""

SAID_SHARE = 0.6
"""Share of a fact's words that the user must have used for it to be the user's, where no model judges."""


DISTILLED: Final = "distilled"
"""In the artifact of a tool's result: the turns up to it were read by the distillation model.

It stands in the thread, so that it is true from the moment at which the write is part of the conversation, of
every branch of it by itself, and gone with it.
"""


@dataclass(frozen=True)
class Classification:
    """Where a fact belongs, and whose it is.

    Attributes:
        memory_id: An existing memory's or a new one.
        tags: Its themes.
        origin: Who said it.
        distilled: Whether the model read the turns.
    """

    memory_id: str
    tags: list[str]
    origin: Origin
    distilled: bool


class Filing(BaseModel):
    """What the model answers of a fact."""

    memory_id: str
    tags: list[str] = []
    origin: Origin | None = None

    @field_validator("memory_id")
    @classmethod
    def _is_snake_case(cls, value: str) -> str:
        if not (name := snake_case(value)):
            msg = f"{value!r} is no id"
            raise ValueError(msg)
        return name

    @field_validator("tags")
    @classmethod
    def _are_few(cls, value: list[str]) -> list[str]:
        return list(dict.fromkeys(tag for tag in (tidy_name(tag).lower()[:40] for tag in value) if tag))[:4]


class Verdict(BaseModel):
    """What a newer fact is to an older one that is close."""

    verdict: Literal["same", "merge", "update", "distinct"]
    text: str = ""


class Distiller:
    """Asks the distillation model, and does without it when it can't be asked."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def file(self, fact: str, turns: Sequence[AnyMessage], nearest: Sequence[Memory]) -> Classification:
        """Where the fact belongs; without a model an id from the fact itself."""
        known = [(memory.memory_id, memory.fact) for memory in nearest]
        answer = await self._ask(FILE, file_request(fact, window_text(turns), known))
        try:
            filing = Filing.model_validate_json(_json(answer))
        except ValidationError:
            return Classification(derived_id(fact), [], judged_origin(fact, turns), distilled=False)
        origin = filing.origin or judged_origin(fact, turns)
        return Classification(filing.memory_id, filing.tags, origin, distilled=True)

    async def judge(self, older: str, newer: str) -> Verdict:
        """What the newer fact is to the older; without a model it replaces it."""
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
    """The running turn, and the complete ones before it that were not read for an earlier memory.

    Args:
        messages: The thread, oldest first.
    """
    *earlier, running = split_turns(messages)[-WINDOW_TURNS:] or [[]]
    window = running
    for turn in reversed(earlier):
        if any(map(_marks_distilled, turn)):
            break
        if isinstance(turn[-1], AIMessage) and not turn[-1].tool_calls:
            window = [*turn, *window]
    return window


def window_text(turns: Sequence[AnyMessage]) -> str:
    """The window as lines of speaker and text, the newest part of it; attachments by their names."""
    lines = []
    for message in turns:
        if isinstance(message, (HumanMessage, AIMessage)):
            text = " ".join(filter(None, [message.text.strip(), *_attachments(message)]))
            if text:
                lines.append(f"{'user' if isinstance(message, HumanMessage) else 'assistant'}: {text}")
    return "\n".join(lines)[-WINDOW_CHARACTERS:]


def judged_origin(fact: str, turns: Sequence[AnyMessage]) -> Origin:
    """Whose a fact is by its words: the user's if they wrote it, or used most of them."""
    texts = [message.text for message in turns if isinstance(message, HumanMessage)]
    words, said = _words(fact), {word for text in texts for word in _words(text)}
    verbatim = any(normalized(fact) in normalized(text) for text in texts)
    mostly = len(words & said) >= SAID_SHARE * len(words)
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
    """The object in an answer, also when a model put a code fence around it."""
    start, end = answer.find("{"), answer.rfind("}")
    return answer[start : end + 1]
