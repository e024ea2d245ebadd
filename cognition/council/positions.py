"""The positions of experts, parsed from the JSON line at the end of each contribution, and compared."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from cognition.state.council import Statement

LONGEST_STANCE: Final = 80
"""Maximum characters of a stance; models may write more than asked."""

LONGEST_POSITION: Final = 400
"""Maximum characters of a position."""

_DECODER: Final = json.JSONDecoder(strict=False)
_LONGEST_TAIL: Final = 4_000


@dataclass(frozen=True)
class Position:
    """The position at the end of a contribution.

    Attributes:
        stance: The answer in a few words, used to compare participants; empty if none was given.
        position: The answer in one sentence.
        confidence: The confidence in percent; None if none was given.
    """

    stance: str = ""
    position: str = ""
    confidence: int | None = None


@dataclass(frozen=True)
class Movement:
    """A change in a participant's position between two rounds in which it stated one.

    Attributes:
        alias: The participant.
        rounds: The two rounds.
        stances: The stances before and after.
        confidences: The confidences before and after, in percent.
    """

    alias: str
    rounds: tuple[int, int]
    stances: tuple[str, str]
    confidences: tuple[int | None, int | None]

    @property
    def moved(self) -> bool:
        """True if the stance changed, and not only the confidence."""
        return comparable(self.stances[0]) != comparable(self.stances[1])


def read_position(text: str) -> tuple[str, Position]:
    """Split a contribution into its text and the position at its end.

    If there is no valid position, return the whole text and an empty position.
    """
    body = text.rstrip().removesuffix("```").rstrip()
    start, fields = _last_object(body)
    if not {"stance", "position", "confidence"} & fields.keys():
        return text.strip(), Position()
    stance = _line(fields.get("stance"), LONGEST_STANCE)
    position = _line(fields.get("position"), LONGEST_POSITION)
    argument = body[:start].rstrip().removesuffix("```json").removesuffix("```").strip()
    return argument, Position(
        stance or _line(position, LONGEST_STANCE), position or stance, _percent(fields.get("confidence"))
    )


def comparable(stance: str) -> str:
    """Normalize a stance for comparison: ignore case, punctuation and spacing."""
    return " ".join(re.findall(r"\w+", stance.casefold()))


def latest(statements: Sequence[Statement]) -> list[Statement]:
    """Return each participant's last statement with a stance, in the order in which they first took one."""
    stated = {statement["alias"]: statement for statement in statements if statement["stance"]}
    return list(stated.values())


def contribution_text(statement: Statement) -> str:
    """Restore a contribution as its participant wrote it: the text and the JSON line at its end."""
    position = {key: statement[key] for key in ("stance", "position", "confidence")}
    line = json.dumps(position, ensure_ascii=False) if statement["stance"] else ""
    return "\n\n".join(filter(None, [statement["text"], line]))


def movements(statements: Sequence[Statement]) -> list[Movement]:
    """Return the changes of stance or confidence, each between two rounds with a stance."""
    before: dict[str, Statement] = {}
    changes = []
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
                changes.append(movement)
        before[after["alias"]] = after
    return changes


def camps(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Group the participants by their final stance, largest group first."""
    by_stance: dict[str, list[Statement]] = {}
    for statement in latest(statements):
        by_stance.setdefault(comparable(statement["stance"]), []).append(statement)
    return sorted(by_stance.values(), key=len, reverse=True)


def majority_of(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements of the stance that more than half hold; empty if there is none."""
    groups = camps(statements)
    return groups[0] if groups and 2 * len(groups[0]) > sum(map(len, groups)) else []


def _last_object(text: str) -> tuple[int, dict[str, Any]]:
    """Return the start and value of the JSON object at the end of a text, or an empty value."""
    for brace in reversed(list(re.finditer(r"\{", text[-_LONGEST_TAIL:]))):
        start = max(len(text) - _LONGEST_TAIL, 0) + brace.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            continue
        if end == len(text):
            return start, value
    return len(text), {}


def _line(value: Any, longest: int) -> str:
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _percent(value: Any) -> int | None:
    """Parse a confidence such as 70, "70 %" or 0.7 as a percentage from 0 to 100."""
    if isinstance(value, str):
        number = re.search(r"\d+(?:[.,]\d+)?", value)
        value = float(number[0].replace(",", ".")) if number else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    percent = value * 100 if isinstance(value, float) and 0 < value <= 1 else value
    return round(min(max(percent, 0), 100))
