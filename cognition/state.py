"""The states of the graphs: plain JSON values and messages only."""

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from cognition.levels import Level
from cognition.transcript import fold_messages


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
    """The account of one turn, opened by `perceive` and kept through `cognition.turn`."""

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


class EchoInput(TypedDict):
    """What a caller sends: the newest message."""

    messages: list[AnyMessage]


class EchoState(TypedDict, total=False):
    """A chat's thread."""

    messages: Annotated[list[AnyMessage], DeltaChannel(fold_messages, snapshot_frequency=30)]
    turn: Turn
    recalled: list[str]
    """Ids of the memories that `perceive` puts before the model in this turn."""
