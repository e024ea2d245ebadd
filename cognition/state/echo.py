"""The state of the echo graph. It contains only plain JSON values and messages."""

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from cognition.messages.reducer import fold_messages
from cognition.state.turn import Turn


class EchoInput(TypedDict):
    """The input of a turn: the user's newest message."""

    messages: list[AnyMessage]


class Perceived(TypedDict):
    """The memories and files that `perceive` found for a turn, as ids, to keep the thread small."""

    memories: list[str]
    files: list[str]
    """Resources that the prompt shows."""
    events: list[str]
    """Resources added or changed since the last turn."""
    at: float
    """The time of the search, as a Unix timestamp."""
    fill: float
    """The used share of the context, 0–1."""
    closed: bool
    """True if the session was closed since the last turn."""


class EchoState(TypedDict, total=False):
    """The thread of a chat."""

    messages: Annotated[list[AnyMessage], DeltaChannel(fold_messages, snapshot_frequency=30)]
    turn: Turn
    perceived: Perceived
