"""The record of a turn: its level, its usage and the budgets it has spent."""

from collections.abc import Sequence
from reprlib import repr as short_repr
from typing import Any

from typing_extensions import TypedDict

from cognition.levels import Level, Policy, start_level, targets
from cognition.models.outcome import Answer, Failure
from cognition.models.pricing import cost
from cognition.settings import Settings


class Tokens(TypedDict):
    """Token usage of the calls of one level."""

    input: int
    output: int


class Transfer(TypedDict):
    """A model's request to hand the turn to a higher level."""

    target: Level
    plan: str
    text: str
    """The model's text beside the call; passed to the target level, not added to the conversation."""


class Turn(TypedDict):
    """The record of one turn, created by `perceive` and updated by the functions of this module."""

    level_start: Level
    level: Level
    plan: str
    """The plan of the level that handed over the turn, kept until the turn ends."""
    transfer: Transfer | None
    transfers: int
    calls: dict[str, int]
    tokens: dict[str, Tokens]
    models: dict[str, str]
    fallbacks: list[str]
    seconds: float
    """Seconds spent in model and tool calls."""
    cut: str
    """The budget that ended the turn early; empty if none did."""


def open_turn(policy: Policy, settings: Settings, last: Turn | None) -> Turn:
    """Create a turn at the policy's start level, or at the last turn's level if the settings say so."""
    level = start_level(policy)
    if settings.escalation_scope == "thread" and last and last["level"] in targets(level, policy):
        level = last["level"]
    return Turn(
        level_start=level,
        level=level,
        plan="",
        transfer=None,
        transfers=0,
        calls={},
        tokens={},
        models={},
        fallbacks=[],
        seconds=0.0,
        cut="",
    )


def with_answer(turn: Turn, answer: Answer, transfer: Transfer | None) -> Turn:
    """Return the turn after an answer, with its usage added."""
    used = tokens_of(answer)
    spent = turn["tokens"].get(answer.role, Tokens(input=0, output=0))
    spent = Tokens(input=spent["input"] + used["input"], output=spent["output"] + used["output"])
    return {
        **turn,
        "transfer": transfer,
        "calls": {**turn["calls"], answer.role: turn["calls"].get(answer.role, 0) + 1},
        "tokens": {**turn["tokens"], answer.role: spent},
        "models": {**turn["models"], answer.role: answer.model},
        "fallbacks": [*turn["fallbacks"], *answer.fallbacks],
        "seconds": turn["seconds"] + answer.seconds,
    }


def tokens_of(answer: Answer) -> Tokens:
    """Return the provider's token count of an answer; zeros if it gave none."""
    usage = answer.message.usage_metadata
    return (
        Tokens(input=usage["input_tokens"], output=usage["output_tokens"])
        if usage
        else Tokens(input=0, output=0)
    )


def with_failure(turn: Turn, failure: Failure) -> Turn:
    """Return the turn after a failed call."""
    calls = {**turn["calls"], failure.role: turn["calls"].get(failure.role, 0) + 1}
    return {**turn, "calls": calls, "seconds": turn["seconds"] + failure.seconds, "transfer": None}


def with_seconds(turn: Turn, seconds: float) -> Turn:
    """Return the turn with the seconds of tool calls added."""
    return {**turn, "seconds": turn["seconds"] + seconds}


def with_agents(turn: Turn, names: Sequence[str]) -> Turn:
    """Return the turn after calls of councils or sub-agents. Each counts as one call, without its time."""
    calls = {**turn["calls"], **{name: turn["calls"].get(name, 0) + names.count(name) for name in names}}
    return {**turn, "calls": calls}


def with_cut(turn: Turn, cut: str) -> Turn:
    """Return the turn marked as cut short.

    Args:
        turn: The turn.
        cut: The spent budget, as a clause such as "its time was used up".
    """
    return {**turn, "cut": cut}


def with_transfer(turn: Turn) -> Turn:
    """Return the turn at the level that its pending transfer names."""
    transfer = turn["transfer"]
    if transfer is None:
        return turn
    plan = transfer["plan"]
    if transfer["text"]:
        plan += f"\n\nMessage with the plan:\n{transfer['text']}"
    return {
        **turn,
        "level": transfer["target"],
        "plan": plan,
        "transfer": None,
        "transfers": turn["transfers"] + 1,
    }


def open_targets(turn: Turn, policy: Policy, settings: Settings) -> tuple[Level, ...]:
    """Return the levels to which the turn may still be handed."""
    return targets(turn["level"], policy) if turn["transfers"] < settings.max_transfers else ()


def transfer_error(target: object, plan: object, turn: Turn, policy: Policy, settings: Settings) -> str:
    """Return the error message for an invalid transfer, addressed to the model; empty if it is valid."""
    allowed = open_targets(turn, policy, settings)
    if not allowed:
        return f"Error: no higher level is available to {turn['level']} in this turn. Answer yourself."
    if target not in allowed:
        return (
            f"Error: invalid target_model {short_repr(target)}: expected one of {', '.join(allowed)} from "
            f"{turn['level']}."
        )
    if not isinstance(plan, str) or not plan.strip():
        return (
            "Error: the transfer_plan is blank. State the objective, what is known, the strategy and what is "
            "left."
        )
    return ""


def calls_left(turn: Turn, settings: Settings) -> int:
    """Return the number of model calls left in the turn."""
    return settings.max_model_calls - sum(turn["calls"].values())


def seconds_left(turn: Turn, settings: Settings) -> float:
    """Return the seconds of model and tool time left in the turn."""
    return settings.turn_seconds - turn["seconds"]


def summary(turn: Turn, level: str, rehearsed: bool) -> dict[str, Any]:
    """Return the record of a turn for the metadata of its answer, under the key `cognition`."""
    model = turn["models"].get(level, "")
    prices = [
        cost(turn["models"][role], spent["input"], spent["output"]) for role, spent in turn["tokens"].items()
    ]
    known = [price for price in prices if price is not None]
    return {
        "level_start": turn["level_start"],
        "level": level,
        "model": model,
        "transfers": turn["transfers"],
        "calls": turn["calls"],
        "tokens": turn["tokens"],
        "fallbacks": turn["fallbacks"],
        "cut": turn["cut"] or None,
        "cost": sum(known) if known and len(known) == len(prices) else None,
        "rehearsal": rehearsed,
    }
