"""What an expert stands for: read from the JSON line that ends its contribution, and compared."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from cognition.state.council import Statement

LONGEST_STANCE: Final = 80
LONGEST_POSITION: Final = 400
"""Characters that are kept of each; a model may put anything there."""

_DECODER: Final = json.JSONDecoder(strict=False)
_LONGEST_TAIL: Final = 4_000


@dataclass(frozen=True)
class Position:
    """An answer in short.

    Attributes:
        stance: In a few words, by which participants are compared; empty when none was given.
        position: In one sentence.
        confidence: In percent.
    """

    stance: str = ""
    position: str = ""
    confidence: int | None = None


@dataclass(frozen=True)
class Movement:
    """How a participant's answer changed from one round that it spoke in to the next.

    Attributes:
        alias: Whose.
        rounds: The two rounds.
        stances: Before and after.
        confidences: Before and after, in percent.
    """

    alias: str
    rounds: tuple[int, int]
    stances: tuple[str, str]
    confidences: tuple[int | None, int | None]

    @property
    def moved(self) -> bool:
        """Whether it is another answer, and not only another confidence."""
        return comparable(self.stances[0]) != comparable(self.stances[1])


def read_position(text: str) -> tuple[str, Position]:
    """Part a contribution into its text and the position that ends it.

    A contribution without a readable position is all text, and its position is empty.
    """
    body = text.rstrip().removesuffix("```").rstrip()
    start, told = _last_object(body)
    if not {"stance", "position", "confidence"} & told.keys():
        return text.strip(), Position()
    stance = _line(told.get("stance"), LONGEST_STANCE)
    position = _line(told.get("position"), LONGEST_POSITION)
    said = body[:start].rstrip().removesuffix("```json").removesuffix("```").strip()
    held = Position(
        stance or _line(position, LONGEST_STANCE), position or stance, _percent(told.get("confidence"))
    )
    return said, held


def comparable(stance: str) -> str:
    """A stance without case, punctuation and spacing: alike for those who say the same words."""
    return " ".join(re.findall(r"\w+", stance.casefold()))


def latest(statements: Sequence[Statement]) -> list[Statement]:
    """The last statement with a stance of each participant, in the order of their aliases' first ones."""
    stated = {statement["alias"]: statement for statement in statements if statement["stance"]}
    return list(stated.values())


def as_given(statement: Statement) -> str:
    """A contribution as its participant gave it: the text, and the line that ended it."""
    held = {key: statement[key] for key in ("stance", "position", "confidence")}
    ended = json.dumps(held, ensure_ascii=False) if statement["stance"] else ""
    return "\n\n".join(filter(None, [statement["text"], ended]))


def movements(statements: Sequence[Statement]) -> list[Movement]:
    """The changes of stance or confidence between the rounds in which a participant took one."""
    before: dict[str, Statement] = {}
    found = []
    for after in statements:
        if not after["stance"]:
            continue
        if last := before.get(after["alias"]):
            movement = Movement(
                after["alias"],
                (last["round"], after["round"]),
                (last["stance"], after["stance"]),
                (last["confidence"], after["confidence"]),
            )
            if movement.moved or last["confidence"] != after["confidence"]:
                found.append(movement)
        before[after["alias"]] = after
    return found


def camps(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Those who hold the same at the end, the largest camp first."""
    held: dict[str, list[Statement]] = {}
    for statement in latest(statements):
        held.setdefault(comparable(statement["stance"]), []).append(statement)
    return sorted(held.values(), key=len, reverse=True)


def majority_of(statements: Sequence[Statement]) -> list[Statement]:
    """The camp that more than half of those who took a stance hold; empty when there is none."""
    found = camps(statements)
    return found[0] if found and 2 * len(found[0]) > sum(map(len, found)) else []


def _last_object(text: str) -> tuple[int, dict[str, Any]]:
    """Where the JSON object that ends a text begins, and the object; an empty one when none ends it."""
    for found in reversed(list(re.finditer(r"\{", text[-_LONGEST_TAIL:]))):
        start = max(len(text) - _LONGEST_TAIL, 0) + found.start()
        try:
            told, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            continue
        if end == len(text):
            return start, told
    return len(text), {}


def _line(value: Any, longest: int) -> str:
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _percent(value: Any) -> int | None:
    """A confidence of 70, "70 %" or 0.7, held within 0–100."""
    if isinstance(value, str):
        found = re.search(r"\d+(?:[.,]\d+)?", value)
        value = float(found[0].replace(",", ".")) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    percent = value * 100 if isinstance(value, float) and 0 < value <= 1 else value
    return round(min(max(percent, 0), 100))
