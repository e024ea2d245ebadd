"""The states of the graphs but the council's: plain JSON values and messages only."""

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from cognition.messages.reducer import fold_messages
from cognition.state.turn import Turn


class EchoInput(TypedDict):
    """What a caller sends: the newest message."""

    messages: list[AnyMessage]


class Perceived(TypedDict):
    """What `perceive` found for a turn, by ids: nothing large is kept in the thread."""

    memories: list[str]
    files: list[str]
    """Resources that stand whole in the prompt."""
    events: list[str]
    """Resources that are new or changed since the last turn."""
    at: float
    """When it looked, in unix seconds."""
    fill: float
    """The part of the context that was taken, 0–1."""
    closed: bool
    """Whether the session was closed since the last turn."""


class EchoState(TypedDict, total=False):
    """A chat's thread."""

    messages: Annotated[list[AnyMessage], DeltaChannel(fold_messages, snapshot_frequency=30)]
    turn: Turn
    perceived: Perceived
