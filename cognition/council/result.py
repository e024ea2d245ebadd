"""The result of a council as JSON: contributions, positions, movements, majority, minority and usage."""

from collections.abc import Sequence
from typing import Any, Literal

from cognition.council.positions import Movement, latest, majority_of, movements
from cognition.models.pricing import cost
from cognition.state.council import CouncilState, Statement

CouncilOutcome = Literal["synthesis", "single opinion", "transcript", "failed"]
"""`transcript`: several participants answered, but no rapporteur did."""


def deliberation(state: CouncilState) -> dict[str, Any]:
    """Return the council as JSON.

    Args:
        state: A council after its synthesis has been made or has failed.
    """
    statements = state["statements"]
    last_round = rounds_held(statements)
    majority = majority_of(statements)
    minority = [statement for statement in latest(statements) if majority and statement not in majority]
    return {
        "question": state["question"],
        "outcome": outcome(state),
        "asked": len(state["seats"]),
        "answered": len(speakers(statements)),
        "rounds_planned": state["rounds_planned"],
        "rounds_held": last_round,
        "notes": state["notes"],
        "roster": state["seats"],
        "context": state["brief"]["status"],
        "context_failure": state["brief"]["reason"],
        "rounds": [_round(statements, number) for number in range(1, last_round + 1)],
        "positions": [_position(statement) for statement in latest(statements)],
        "movements": [_movement(movement) for movement in movements(statements)],
        "majority": [_position(statement) for statement in majority],
        "minority": [_position(statement) for statement in minority],
        "synthesis": state["synthesis"],
        "usage": usage(state),
    }


def outcome(state: CouncilState) -> CouncilOutcome:
    """Return the kind of result that the council ended with."""
    if state["synthesis"]["text"]:
        return "synthesis"
    match len(speakers(state["statements"])):
        case 0:
            return "failed"
        case 1:
            return "single opinion"
        case _:
            return "transcript"


def speakers(statements: Sequence[Statement]) -> list[str]:
    """Return the aliases of the participants who spoke at least once."""
    return list(dict.fromkeys(statement["alias"] for statement in statements if not statement["absence"]))


def present(statements: Sequence[Statement], round_number: int) -> int:
    """Return the number of participants who spoke in a round."""
    return sum(s["round"] == round_number and not s["absence"] for s in statements)


def rounds_held(statements: Sequence[Statement]) -> int:
    """Return the number of the last round held; 0 if there was none."""
    return max((statement["round"] for statement in statements), default=0)


def seconds_spent(state: CouncilState) -> float:
    """Return the seconds spent in model calls so far; a round takes as long as its slowest participant.

    Time during which the council was interrupted does not count.
    """
    brief = state["brief"]["seconds"] if "brief" in state else 0.0
    return brief + sum(round_seconds(state, number) for number in range(1, state["round"] + 1))


def round_seconds(state: CouncilState, number: int) -> float:
    """Return the seconds that a round took."""
    return max((s["seconds"] for s in state["statements"] if s["round"] == number), default=0.0)


def usage(state: CouncilState) -> dict[str, Any]:
    """Return calls with retries, tokens and list price, in total and by participant, round and step."""
    statements, brief, synthesis = state["statements"], state["brief"], state["synthesis"]
    parts = (*statements, brief, synthesis)
    prices = [cost(s["model"], s["tokens"]["input"], s["tokens"]["output"]) for s in parts if s["model"]]
    known = [price for price in prices if price is not None]
    return {
        "calls": sum(part["calls"] for part in parts),
        "input": sum(part["tokens"]["input"] for part in parts),
        "output": sum(part["tokens"]["output"] for part in parts),
        "cost": sum(known) if known and len(known) == len(prices) else None,
        "participants": {
            seat["alias"]: {
                "input_by_round": [s["tokens"]["input"] for s in statements if s["alias"] == seat["alias"]],
                "output_by_round": [s["tokens"]["output"] for s in statements if s["alias"] == seat["alias"]],
            }
            for seat in state["seats"]
        },
        "distillation": brief["tokens"],
        "synthesis": synthesis["tokens"],
    }


def _round(statements: Sequence[Statement], number: int) -> dict[str, Any]:
    spoken = [statement for statement in statements if statement["round"] == number]
    return {
        "round": number,
        "contributions": [
            {key: value for key, value in statement.items() if key not in ("round", "absence")}
            for statement in spoken
            if not statement["absence"]
        ],
        "absences": [{"alias": s["alias"], "reason": s["absence"]} for s in spoken if s["absence"]],
    }


def _position(statement: Statement) -> dict[str, Any]:
    return {
        "alias": statement["alias"],
        "stance": statement["stance"],
        "position": statement["position"],
        "confidence": statement["confidence"],
        "round": statement["round"],
    }


def _movement(movement: Movement) -> dict[str, Any]:
    return {
        "alias": movement.alias,
        "rounds": list(movement.rounds),
        "stances": list(movement.stances),
        "confidences": list(movement.confidences),
        "moved": movement.moved,
    }
