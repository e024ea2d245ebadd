"""The report of a council in Markdown, rendered from its deliberation."""

from collections.abc import Iterable
from typing import Any, Final

from cognition.council.positions import comparable
from cognition.text.plural import pluralize
from cognition.text.truncate import shorten, shorten_together

TRANSCRIPT_CHARACTERS: Final = 24_000
"""The most that the contributions take of a report without a synthesis."""

SYNTHESIS_CHARACTERS: Final = 16_000
"""The most that is shown of a synthesis; the deliberation has it whole."""

Deliberation = dict[str, Any]
"""What `cognition.council.result.deliberation` returns."""


def report(deliberation: Deliberation) -> str:
    """Render a whole report. Its first line says how many of those asked answered."""
    parts = [_status(deliberation)]
    match deliberation["outcome"]:
        case "synthesis":
            text = shorten(deliberation["synthesis"]["text"], SYNTHESIS_CHARACTERS)
            parts += [f"# Synthesis\n\n{text}", _positions(deliberation)]
        case "single opinion":
            last = [each for _, each in _contributions(deliberation)][-1]
            parts.append(f"# One opinion: {_named(deliberation, last['alias'])}\n\n{_quote(last['text'])}")
        case "transcript":
            parts += [f"# Transcript\n\n{_transcript(deliberation)}", _positions(deliberation)]
    return "\n\n".join(filter(None, parts))


def _status(deliberation: Deliberation) -> str:
    spoke = {each["alias"] for _, each in _contributions(deliberation)}
    absent = {each["alias"] for _, each in _absences(deliberation)}
    answered = f"{deliberation['answered']} of {deliberation['asked']} participants answered"
    if partly := len(spoke & absent):
        answered += f", {partly} of them not in every round"
    planned = deliberation["rounds_planned"]
    held = f"{deliberation['rounds_held']} of {pluralize(planned, 'round')}"
    head = f"**Council: {answered}; {held} {'was' if planned == 1 else 'were'} held.**"
    lines = [_outcome_line(deliberation), *_absence_lines(deliberation), *deliberation["notes"]]
    if deliberation["context"] == "failed":
        reason = deliberation["context_failure"]
        lines.append(f"The chat could not be summarised for the participants: {reason}")
    lines.append(_usage_line(deliberation["usage"]))
    return "\n".join([head, *(f"- {line}" for line in lines)])


def _outcome_line(deliberation: Deliberation) -> str:
    synthesis = deliberation["synthesis"]
    failures = " ".join(synthesis["failures"])
    match deliberation["outcome"]:
        case "synthesis":
            before = f" Before it: {failures}" if failures else ""
            return f"Synthesis by {synthesis['level']} ({synthesis['model']}).{before}"
        case "single opinion":
            return "What follows is one opinion and no synthesis: nobody else answered."
        case "transcript":
            return f"There is no synthesis, what follows is the transcript: {failures}"
        case _:
            return "Nobody answered, so there is no result. Ask again later, or other participants."


def _usage_line(usage: dict[str, Any]) -> str:
    calls = pluralize(usage["calls"], "call")
    return f"It took {calls}, {usage['input']:,} tokens in and {usage['output']:,} out."


def _absence_lines(deliberation: Deliberation) -> list[str]:
    """Say who was absent in which rounds and why, the same reason once."""
    rounds: dict[tuple[str, str], list[str]] = {}
    for number, absence in _absences(deliberation):
        rounds.setdefault((absence["alias"], absence["reason"]), []).append(str(number))
    return [
        f"{_named(deliberation, alias)} was absent in {_numbered('round', which)}: {reason}"
        for (alias, reason), which in rounds.items()
    ]


def _numbered(noun: str, numbers: list[str]) -> str:
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def _transcript(deliberation: Deliberation) -> str:
    """Render all rounds, the participants of each in the order of the roster."""
    spoken = {(number, each["alias"]): each["text"] for number, each in _contributions(deliberation)}
    absent = {(number, each["alias"]): "" for number, each in _absences(deliberation)}
    aliases = [seat["alias"] for seat in deliberation["roster"]]
    turns = sorted({**absent, **spoken}.items(), key=lambda turn: (turn[0][0], aliases.index(turn[0][1])))
    texts = shorten_together([text for _, text in turns], TRANSCRIPT_CHARACTERS)
    return "\n\n".join(
        f"**Round {number}, {_named(deliberation, alias)}:**" + (f"\n{_quote(text)}" if text else " (absent)")
        for ((number, alias), _), text in zip(turns, texts, strict=True)
    )


def _quote(text: str) -> str:
    """Quote each line of a contribution, so that a heading in it is none of the report."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _positions(deliberation: Deliberation) -> str:
    """Render each participant's way to its last stance, then the majority and those outside it."""
    ways = [
        f"- {_named(deliberation, seat['alias'])}: {way}"
        for seat in deliberation["roster"]
        if (way := _way(deliberation, seat["alias"]))
    ]
    if not ways:
        return ""
    majority, stated = deliberation["majority"], len(deliberation["positions"])
    lines = ["# Positions", "", *ways, ""]
    if not majority:
        return "\n".join([*lines, "No stance is held by more than half."])
    lines.append(f"Majority: {majority[0]['stance']} ({len(majority)} of {stated}).")
    lines += [
        f"Minority: {_named(deliberation, position['alias'])}: {position['position']}"
        for position in deliberation["minority"]
    ]
    return "\n".join(lines)


def _way(deliberation: Deliberation, alias: str) -> str:
    """Render the stances that a participant took, in order; the same one in two rounds counts once."""
    taken: list[tuple[int, dict[str, Any]]] = []
    for number, contribution in _contributions(deliberation):
        if contribution["alias"] == alias and contribution["stance"]:
            if taken and comparable(taken[-1][1]["stance"]) == comparable(contribution["stance"]):
                taken.pop()
            taken.append((number, contribution))
    if not taken:
        return ""
    last = taken[-1][0]
    since = "" if last == deliberation["rounds_held"] else f", as of round {last}"
    return " → ".join(_stance(contribution) for _, contribution in taken) + since


def _stance(contribution: dict[str, Any]) -> str:
    sure = "" if contribution["confidence"] is None else f" ({contribution['confidence']} %)"
    return f"{contribution['stance']}{sure}"


def _contributions(deliberation: Deliberation) -> Iterable[tuple[int, dict[str, Any]]]:
    return ((held["round"], each) for held in deliberation["rounds"] for each in held["contributions"])


def _absences(deliberation: Deliberation) -> Iterable[tuple[int, dict[str, Any]]]:
    return ((held["round"], each) for held in deliberation["rounds"] for each in held["absences"])


def _named(deliberation: Deliberation, alias: str) -> str:
    role = next(seat["role"] for seat in deliberation["roster"] if seat["alias"] == alias)
    return f"{alias} ({role})"
