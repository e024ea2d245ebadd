"""The state of the council graph. It contains only plain JSON values and messages."""

from collections.abc import Sequence
from operator import add
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from typing_extensions import TypedDict

from cognition.levels import Level
from cognition.state.turn import Tokens

Messages = dict[str, list[AnyMessage]]
"""Messages by alias of the participant."""


class Histories(UntrackedValue[Messages]):
    """A channel of histories by alias. Each branch of a round writes one; checkpoints store none of them."""

    def update(self, values: Sequence[Messages]) -> bool:
        """Merge the histories written in a step into those of the other participants."""
        if not values:
            return False
        merged: Messages = dict(self.value) if self.is_available() else {}
        for value in values:
            merged |= value
        self.value = merged
        return True


class Seat(TypedDict):
    """A participant: the alias and role that the others see, and the skill it acts as."""

    alias: str
    role: str
    skill_id: str


class ModelUsage(TypedDict):
    """The model usage of one part of a council."""

    model: str
    calls: int
    """Number of model calls, failed ones included."""
    tokens: Tokens
    """Token usage of the answer."""
    seconds: float


class Statement(ModelUsage):
    """A participant's contribution to one round, or the reason for its absence."""

    round: int
    alias: str
    text: str
    stance: str
    """The answer in a few words, used to compare participants; empty if none was given."""
    position: str
    """The answer in one sentence."""
    confidence: int | None
    """The confidence in percent; None if none was given."""
    absence: str
    """The reason for the absence; empty if the participant spoke."""
    cut: int
    """Number of characters removed from a text that was too long."""


class Brief(ModelUsage):
    """The summary of the chat that a council receives."""

    text: str
    status: Literal["distilled", "none", "failed"]
    """`none`: the chat was empty, or no summary was requested."""
    reason: str
    """The reason for a failure; otherwise empty."""


class Synthesis(ModelUsage):
    """The rapporteur's synthesis of a council."""

    text: str
    level: str
    failures: list[str]
    """The errors of the levels tried before."""


class CouncilInput(TypedDict, total=False):
    """The input of a council; only the question and the participants are required.

    The optional values apply to one run: the next council on the same thread does not inherit them.
    """

    question: str
    participants: str | list[str]
    """Skill ids, separated by commas or as a list."""
    target_model: Annotated[Level, EphemeralValue]
    """The level of the participants."""
    synthesis_model: Annotated[Level, EphemeralValue]
    """The level of the rapporteur."""
    rounds: Annotated[int, EphemeralValue]
    history_depth: Annotated[int, EphemeralValue]
    """Number of the newest messages to condense for the participants."""
    distillation_focus: Annotated[str, EphemeralValue]
    messages: list[AnyMessage]
    """The chat in which the question was asked."""


class CouncilOutput(TypedDict, total=False):
    """The output of a council."""

    report: str
    deliberation: dict[str, Any]
    """Roster, rounds, absences, positions, movements, minority report, synthesis and usage, as JSON."""


class CouncilRecord(CouncilInput, CouncilOutput, total=False):
    """The part of the state that streams and checkpoints contain."""

    seats: list[Seat]
    expert_level: Level
    rapporteur_level: Level
    rounds_planned: int
    depth: int
    focus: str
    notes: list[str]
    """Differences from the request, as sentences."""
    round: int
    """The number of the current round, from 1."""
    closed: bool
    """True if there is no further round."""
    brief: Brief
    statements: Annotated[list[Statement], add]
    synthesis: Synthesis


class CouncilState(CouncilRecord, total=False):
    """The state of a deliberation."""

    histories: Annotated[dict[str, list[AnyMessage]], Histories(dict)]
    """The messages sent to and by each participant, with thought signatures."""
