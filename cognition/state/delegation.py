"""The state of the delegation graph."""

from typing import Annotated, Literal

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel, EphemeralValue
from typing_extensions import TypedDict

from cognition.messages.reducer import fold_messages
from cognition.state.turn import Turn


class AgentOutcome(TypedDict):
    """What came of a sub-agent's turn."""

    status: Literal["success", "pending_question", "budget_exhausted", "error"]
    text: str
    level: str
    """The level that answered."""
    calls: int
    """Tool calls that were made."""


class DelegationInput(TypedDict, total=False):
    """What a caller asks of a sub-agent; only the task must be there. A thread keeps its first role."""

    task: Annotated[str, EphemeralValue]
    system_prompt: Annotated[str, EphemeralValue]
    """Who the agent is, in the caller's words."""
    skill_id: str
    """The expert that the agent is."""
    request_id: str
    """The same for the same request, so that one that comes again is not done again."""


class DelegationOutput(TypedDict, total=False):
    """What a sub-agent gives back."""

    outcome: AgentOutcome


class DelegationState(DelegationInput, DelegationOutput, total=False):
    """A sub-agent's thread. The role in the caller's words is the first of its messages."""

    messages: Annotated[list[AnyMessage], DeltaChannel(fold_messages, snapshot_frequency=30)]
    summary: str
    """Notes on the oldest exchanges, which are no longer among the messages."""
    notes_failed: bool
    """Whether none could be taken in this turn: it is not tried again in it."""
    turn: Turn
    calls: int
    """Tool calls of this turn."""
    steps: int
    """Model calls of all turns that are done."""
