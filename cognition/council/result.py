"""What a council comes to, as JSON: who said and held what, who moved, who dissents, what it took."""

from collections.abc import Sequence
from typing import Any, Literal

from cognition.council.positions import Movement, latest, majority_of, movements
from cognition.models.pricing import cost
from cognition.state.council import CouncilState, Statement

CouncilOutcome = Literal["synthesis", "single opinion", "transcript", "failed"]


def deliberation(state: CouncilState) -> dict[str, Any]:
    """The council as JSON.

    Args:
        state: A council whose synthesis is made, or was not to be had.
    """
    statements = state["statements"]
    held = rounds_held(statements)
    majority = majority_of(statements)
    outside = [statement for statement in latest(statements) if majority and statement not in majority]
    return {
        "question": state["question"],
        "outcome": outcome(state),
        "asked": len(state["seats"]),
        "answered": len(speakers(statements)),
        "rounds_planned": state["rounds_planned"],
        "rounds_held": held,
        "notes": state["notes"],
        "roster": state["seats"],
        "context": state["brief"]["status"],
        "context_failure": state["brief"]["reason"],
        "rounds": [_round(statements, number) for number in range(1, held + 1)],
        "positions": [_position(statement) for statement in latest(statements)],
        "movements": [_movement(movement) for movement in movements(statements)],
        "majority": [_position(statement) for statement in majority],
        "minority": [_position(statement) for statement in outside],
        "synthesis": state["synthesis"],
        "usage": usage(state),
    }


def outcome(state: CouncilState) -> CouncilOutcome:
    """What stands at the end of a council."""
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
    """The aliases of those who spoke at least once."""
    return list(dict.fromkeys(statement["alias"] for statement in statements if not statement["absence"]))


def present(statements: Sequence[Statement], round_number: int) -> int:
    """How many spoke in a round."""
    return sum(s["round"] == round_number and not s["absence"] for s in statements)


def rounds_held(statements: Sequence[Statement]) -> int:
    """The last round that was held; 0 when none was."""
    return max((statement["round"] for statement in statements), default=0)


def seconds_spent(state: CouncilState) -> float:
    """Seconds that the models took so far; a round is as long as its slowest participant.

    The time in which a council was interrupted is not among them.
    """
    brief = state["brief"]["seconds"] if "brief" in state else 0.0
    return brief + sum(round_seconds(state, number) for number in range(1, state["round"] + 1))


def round_seconds(state: CouncilState, number: int) -> float:
    """Seconds that a round took."""
    return max((s["seconds"] for s in state["statements"] if s["round"] == number), default=0.0)


def usage(state: CouncilState) -> dict[str, Any]:
    """Calls with retries, tokens and list price, by participant and round, of distillation and synthesis."""
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
    held = [statement for statement in statements if statement["round"] == number]
    return {
        "round": number,
        "contributions": [
            {key: value for key, value in statement.items() if key not in ("round", "absence")}
            for statement in held
            if not statement["absence"]
        ],
        "absences": [{"alias": s["alias"], "reason": s["absence"]} for s in held if s["absence"]],
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
