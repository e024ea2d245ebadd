"""The report of a council in Markdown: first who took part and what went otherwise, then what came out."""

from typing import Final

from cognition.council.positions import camps, comparable, majority_of
from cognition.council.result import outcome, rounds_held, speakers, usage
from cognition.state.council import CouncilState, Seat, Statement
from cognition.text.plural import pluralize
from cognition.text.truncate import shorten, shorten_together

TRANSCRIPT_CHARACTERS: Final = 24_000
"""The most that the contributions take of a report that has to stand without a synthesis."""

SYNTHESIS_CHARACTERS: Final = 16_000
"""The most that is shown of a synthesis; the deliberation has it whole."""


def report(state: CouncilState) -> str:
    """The whole report. Its first line says how many of those asked answered."""
    parts = [_status(state)]
    match outcome(state):
        case "synthesis":
            parts += [
                f"# Synthesis\n\n{shorten(state['synthesis']['text'], SYNTHESIS_CHARACTERS)}",
                _positions(state),
            ]
        case "single opinion":
            spoken = [s for s in state["statements"] if not s["absence"]]
            parts.append(
                f"# One opinion: {_named(state, spoken[-1]['alias'])}\n\n{_quote(spoken[-1]['text'])}"
            )
        case "transcript":
            parts += [f"# Transcript\n\n{_transcript(state)}", _positions(state)]
        case "failed":
            pass
    return "\n\n".join(filter(None, parts))


def _status(state: CouncilState) -> str:
    asked, statements = len(state["seats"]), state["statements"]
    spoke = speakers(statements)
    now_and_then = len({s["alias"] for s in statements if s["absence"] and s["alias"] in spoke})
    answered = f"{len(spoke)} of {asked} participants answered"
    if now_and_then:
        answered += f", {now_and_then} of them not in every round"
    held = rounds_held(statements)
    planned = state["rounds_planned"]
    rounds = f"{held} of {pluralize(planned, 'round')} {'was' if planned == 1 else 'were'} held"
    head = f"**Council: {answered}; {rounds}.**"
    lines = [_outcome_line(state), *_absences(state), *state["notes"]]
    if state["brief"]["status"] == "failed":
        lines.append(f"The chat could not be summarised for the participants: {state['brief']['reason']}")
    lines.append(_usage_line(state))
    return "\n".join([head, *(f"- {line}" for line in lines)])


def _outcome_line(state: CouncilState) -> str:
    synthesis = state["synthesis"]
    failures = " ".join(synthesis["failures"])
    match outcome(state):
        case "synthesis":
            before = f" Before it: {failures}" if failures else ""
            return f"Synthesis by {synthesis['level']} ({synthesis['model']}).{before}"
        case "single opinion":
            return "What follows is one opinion and no synthesis: nobody else answered."
        case "transcript":
            return f"There is no synthesis, what follows is the transcript: {failures}"
        case "failed":
            return "Nobody answered, so there is no result. Ask again later, or other participants."


def _usage_line(state: CouncilState) -> str:
    spent = usage(state)
    calls = pluralize(spent["calls"], "call")
    return f"It took {calls}, {spent['input']:,} tokens in and {spent['output']:,} out."


def _absences(state: CouncilState) -> list[str]:
    """Who was absent in which rounds and why, the same reason once."""
    rounds: dict[tuple[str, str], list[str]] = {}
    for statement in state["statements"]:
        if statement["absence"]:
            key = statement["alias"], statement["absence"]
            rounds.setdefault(key, []).append(str(statement["round"]))
    return [
        f"{_named(state, alias)} was absent in {_numbered('round', which)}: {reason}"
        for (alias, reason), which in rounds.items()
    ]


def _numbered(noun: str, numbers: list[str]) -> str:
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def _transcript(state: CouncilState) -> str:
    texts = shorten_together([s["text"] for s in state["statements"]], TRANSCRIPT_CHARACTERS)
    return "\n\n".join(
        f"**Round {statement['round']}, {_named(state, statement['alias'])}:**"
        + (f"\n{_quote(text)}" if text else " (absent)")
        for statement, text in zip(state["statements"], texts, strict=True)
    )


def _quote(text: str) -> str:
    """What a participant said, line by line: a heading in it is none of the report."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _positions(state: CouncilState) -> str:
    """Each participant's way to its last stance, then the majority and those outside it."""
    ways = [
        f"- {_named(state, seat['alias'])}: {way}" for seat in state["seats"] if (way := _way(state, seat))
    ]
    if not ways:
        return ""
    majority = majority_of(state["statements"])
    stated = sum(map(len, camps(state["statements"])))
    lines = ["# Positions", "", *ways, ""]
    if not majority:
        return "\n".join([*lines, "No stance is held by more than half."])
    lines.append(f"Majority: {majority[0]['stance']} ({len(majority)} of {stated}).")
    lines += [
        f"Minority: {_named(state, statement['alias'])}: {statement['position']}"
        for camp in camps(state["statements"])
        for statement in camp
        if statement not in majority
    ]
    return "\n".join(lines)


def _way(state: CouncilState, seat: Seat) -> str:
    """The stances that a participant took, one after the other; the same one in two rounds is one."""
    taken: list[Statement] = []
    for statement in state["statements"]:
        if statement["alias"] == seat["alias"] and statement["stance"]:
            if taken and comparable(taken[-1]["stance"]) == comparable(statement["stance"]):
                taken.pop()
            taken.append(statement)
    return " → ".join(map(_stance, taken)) + _since(state, taken[-1]) if taken else ""


def _since(state: CouncilState, last: Statement) -> str:
    """In which round a stance was taken, where it was not the last one that was held."""
    held = rounds_held(state["statements"])
    return "" if last["round"] == held else f", as of round {last['round']}"


def _stance(statement: Statement) -> str:
    sure = "" if statement["confidence"] is None else f" ({statement['confidence']} %)"
    return f"{statement['stance']}{sure}"


def _named(state: CouncilState, alias: str) -> str:
    return f"{alias} ({next(seat['role'] for seat in state['seats'] if seat['alias'] == alias)})"
