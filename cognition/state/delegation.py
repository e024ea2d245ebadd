"""The state of the delegation graph."""

from typing import Annotated, Literal

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel, EphemeralValue
from typing_extensions import TypedDict

from cognition.messages.reducer import fold_messages
from cognition.state.turn import Turn


class AgentOutcome(TypedDict):
    """The outcome of a sub-agent's turn."""

    status: Literal["success", "pending_question", "budget_exhausted", "error"]
    text: str
    level: str
    """The level that gave the answer."""
    calls: int
    """Number of tool calls."""


class DelegationInput(TypedDict, total=False):
    """The input of a sub-agent; only the task is required. A thread keeps its first role."""

    task: Annotated[str, EphemeralValue]
    system_prompt: Annotated[str, EphemeralValue]
    """The role of the sub-agent, in the caller's words."""
    skill_id: str
    """The expert that the sub-agent acts as."""
    request_id: str
    """The idempotency key: a repeated request is not executed again."""


class DelegationOutput(TypedDict, total=False):
    """The output of a sub-agent."""

    outcome: AgentOutcome


class DelegationState(DelegationInput, DelegationOutput, total=False):
    """The thread of a sub-agent. The role in the caller's words is its first message."""

    messages: Annotated[list[AnyMessage], DeltaChannel(fold_messages, snapshot_frequency=30)]
    summary: str
    """Notes that replace the oldest messages."""
    notes_failed: bool
    """True if condensing failed in this turn; it is not tried again before the next one."""
    turn: Turn
    calls: int
    """Number of tool calls in this turn."""
    steps: int
    """Number of model calls in all finished turns."""
