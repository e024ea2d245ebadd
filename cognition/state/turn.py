"""The account of a turn: where it stands, what it spent, what it was cut short of."""

from collections.abc import Sequence
from reprlib import repr as short_repr
from typing import Any

from typing_extensions import TypedDict

from cognition.levels import Level, Policy, start_level, targets
from cognition.models.outcome import Answer, Failure
from cognition.models.pricing import cost
from cognition.settings import Settings


class Tokens(TypedDict):
    """What the calls of one level took."""

    input: int
    output: int


class Transfer(TypedDict):
    """A model's wish to hand the turn to a higher level."""

    target: Level
    plan: str
    text: str
    """What the model said beside the call; it goes to the target and not into the conversation."""


class Turn(TypedDict):
    """The account of one turn, opened by `perceive` and kept through `cognition.state.turn`."""

    level_start: Level
    level: Level
    plan: str
    """The plan handed over by the last level; it lives to the end of the turn."""
    transfer: Transfer | None
    transfers: int
    calls: dict[str, int]
    tokens: dict[str, Tokens]
    models: dict[str, str]
    fallbacks: list[str]
    seconds: float
    """Time spent in model and tool calls."""
    cut: str
    """What a spent budget kept from being done; empty when nothing was cut."""


def open_turn(policy: Policy, settings: Settings, last: Turn | None) -> Turn:
    """A new turn at the policy's start level, or where the last one ended if the settings say so."""
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
    """The turn after an answer, with what it took."""
    taken = tokens_of(answer)
    spent = turn["tokens"].get(answer.role, Tokens(input=0, output=0))
    spent = Tokens(input=spent["input"] + taken["input"], output=spent["output"] + taken["output"])
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
    """What an answer took, as its provider counted; nothing where it did not say."""
    usage = answer.message.usage_metadata
    return (
        Tokens(input=usage["input_tokens"], output=usage["output_tokens"])
        if usage
        else Tokens(input=0, output=0)
    )


def with_failure(turn: Turn, failure: Failure) -> Turn:
    """The turn after a call that gave no answer."""
    calls = {**turn["calls"], failure.role: turn["calls"].get(failure.role, 0) + 1}
    return {**turn, "calls": calls, "seconds": turn["seconds"] + failure.seconds, "transfer": None}


def with_seconds(turn: Turn, seconds: float) -> Turn:
    """The turn after tools ran for so long."""
    return {**turn, "seconds": turn["seconds"] + seconds}


def with_agents(turn: Turn, names: Sequence[str]) -> Turn:
    """The turn after tools behind which others think: each counts as one call, and its time is its own."""
    calls = {**turn["calls"], **{name: turn["calls"].get(name, 0) + names.count(name) for name in names}}
    return {**turn, "calls": calls}


def with_transfer(turn: Turn) -> Turn:
    """The turn at the level that the pending transfer names."""
    transfer = turn["transfer"]
    if transfer is None:
        return turn
    plan = transfer["plan"]
    if transfer["text"]:
        plan += f"\n\nSaid with it:\n{transfer['text']}"
    return {
        **turn,
        "level": transfer["target"],
        "plan": plan,
        "transfer": None,
        "transfers": turn["transfers"] + 1,
    }


def open_targets(turn: Turn, policy: Policy, settings: Settings) -> tuple[Level, ...]:
    """The levels that the turn may still be handed to."""
    return targets(turn["level"], policy) if turn["transfers"] < settings.max_transfers else ()


def refused_transfer(target: object, plan: object, turn: Turn, policy: Policy, settings: Settings) -> str:
    """Why a transfer can't be made, in a sentence for the model; empty when it can."""
    allowed = open_targets(turn, policy, settings)
    if not allowed:
        return f"Error: from {turn['level']} no other level can be reached in this turn. Answer yourself."
    if target not in allowed:
        return (
            f"Error: {short_repr(target)} can't be reached from {turn['level']}. "
            f"Allowed: {', '.join(allowed)}."
        )
    if not isinstance(plan, str) or not plan.strip():
        return (
            "Error: the transfer_plan is empty. Say the objective, what is known, the strategy, what is left."
        )
    return ""


def calls_left(turn: Turn, settings: Settings) -> int:
    """Model calls that the turn may still make."""
    return settings.max_model_calls - sum(turn["calls"].values())


def seconds_left(turn: Turn, settings: Settings) -> float:
    """Seconds of model and tool time that the turn may still take."""
    return settings.turn_seconds - turn["seconds"]


def summary(turn: Turn, level: str, rehearsed: bool) -> dict[str, Any]:
    """What the answer's metadata tell of its turn, under the key `cognition`."""
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
