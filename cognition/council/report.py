"""The report of a council, rendered as Markdown from its deliberation."""

from collections.abc import Iterable
from typing import Any, Final

from cognition.council.positions import comparable
from cognition.text.plural import pluralize
from cognition.text.truncate import shorten, shorten_together

TRANSCRIPT_CHARACTERS: Final = 24_000
"""Maximum characters of the contributions in a report without a synthesis."""

SYNTHESIS_CHARACTERS: Final = 16_000
"""Maximum characters of the synthesis in a report; the deliberation contains all of it."""

Deliberation = dict[str, Any]
"""The return value of `cognition.council.result.deliberation`."""


def report(deliberation: Deliberation) -> str:
    """Render a report. Its first line says how many of the participants answered."""
    parts = [_status(deliberation)]
    match deliberation["outcome"]:
        case "synthesis":
            text = shorten(deliberation["synthesis"]["text"], SYNTHESIS_CHARACTERS)
            parts += [f"# Synthesis\n\n{text}", _positions(deliberation)]
        case "single opinion":
            last = [each for _, each in _contributions(deliberation)][-1]
            parts.append(f"# One opinion: {_name(deliberation, last['alias'])}\n\n{_quote(last['text'])}")
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
            before = f" Failed attempts before it: {failures}" if failures else ""
            return f"Synthesis by {synthesis['level']} ({synthesis['model']}).{before}"
        case "single opinion":
            return "Only one participant answered, so this is a single opinion and not a synthesis."
        case "transcript":
            return f"There is no synthesis, so the transcript follows. Failed attempts: {failures}"
        case _:
            return (
                "No participant answered, so there is no result. Try again later or with other participants."
            )


def _usage_line(usage: dict[str, Any]) -> str:
    calls = pluralize(usage["calls"], "call")
    return f"Usage: {calls}, {usage['input']:,} tokens in and {usage['output']:,} out."


def _absence_lines(deliberation: Deliberation) -> list[str]:
    """List the absences; group the rounds in which a participant was absent for the same reason."""
    rounds: dict[tuple[str, str], list[str]] = {}
    for number, absence in _absences(deliberation):
        rounds.setdefault((absence["alias"], absence["reason"]), []).append(str(number))
    return [
        f"{_name(deliberation, alias)} was absent in {_numbered('round', numbers)}: {reason}"
        for (alias, reason), numbers in rounds.items()
    ]


def _numbered(noun: str, numbers: list[str]) -> str:
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def _transcript(deliberation: Deliberation) -> str:
    """Render all rounds, with the participants in the order of the roster."""
    spoken = {(number, each["alias"]): each["text"] for number, each in _contributions(deliberation)}
    absent = {(number, each["alias"]): "" for number, each in _absences(deliberation)}
    aliases = [seat["alias"] for seat in deliberation["roster"]]
    turns = sorted({**absent, **spoken}.items(), key=lambda turn: (turn[0][0], aliases.index(turn[0][1])))
    texts = shorten_together([text for _, text in turns], TRANSCRIPT_CHARACTERS)
    return "\n\n".join(
        f"**Round {number}, {_name(deliberation, alias)}:**" + (f"\n{_quote(text)}" if text else " (absent)")
        for ((number, alias), _), text in zip(turns, texts, strict=True)
    )


def _quote(text: str) -> str:
    """Quote each line of a contribution, so that its headings don't become headings of the report."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _positions(deliberation: Deliberation) -> str:
    """Render each participant's path to its last stance, then the majority and the minority."""
    paths = [
        f"- {_name(deliberation, seat['alias'])}: {path}"
        for seat in deliberation["roster"]
        if (path := _path(deliberation, seat["alias"]))
    ]
    if not paths:
        return ""
    majority, stated = deliberation["majority"], len(deliberation["positions"])
    lines = ["# Positions", "", *paths, ""]
    if not majority:
        return "\n".join([*lines, "No stance has a majority."])
    lines.append(f"Majority: {majority[0]['stance']} ({len(majority)} of {stated}).")
    lines += [
        f"Minority: {_name(deliberation, position['alias'])}: {position['position']}"
        for position in deliberation["minority"]
    ]
    return "\n".join(lines)


def _path(deliberation: Deliberation, alias: str) -> str:
    """Render a participant's stances in order; merge consecutive rounds with the same stance."""
    stances: list[tuple[int, dict[str, Any]]] = []
    for number, contribution in _contributions(deliberation):
        if contribution["alias"] == alias and contribution["stance"]:
            if stances and comparable(stances[-1][1]["stance"]) == comparable(contribution["stance"]):
                stances.pop()
            stances.append((number, contribution))
    if not stances:
        return ""
    last = stances[-1][0]
    since = "" if last == deliberation["rounds_held"] else f", as of round {last}"
    return " → ".join(_stance(contribution) for _, contribution in stances) + since


def _stance(contribution: dict[str, Any]) -> str:
    confidence = "" if contribution["confidence"] is None else f" ({contribution['confidence']} %)"
    return f"{contribution['stance']}{confidence}"


def _contributions(deliberation: Deliberation) -> Iterable[tuple[int, dict[str, Any]]]:
    return ((part["round"], each) for part in deliberation["rounds"] for each in part["contributions"])


def _absences(deliberation: Deliberation) -> Iterable[tuple[int, dict[str, Any]]]:
    return ((part["round"], each) for part in deliberation["rounds"] for each in part["absences"])


def _name(deliberation: Deliberation, alias: str) -> str:
    role = next(seat["role"] for seat in deliberation["roster"] if seat["alias"] == alias)
    return f"{alias} ({role})"
