"""The state of a council: plain JSON values and messages only."""

from collections.abc import Sequence
from operator import add
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from typing_extensions import TypedDict

from cognition.levels import Level
from cognition.state.turn import Tokens

Messages = dict[str, list[AnyMessage]]


class Histories(UntrackedValue[Messages]):
    """Histories by alias. The branches of a round each write their own; no checkpoint holds any of them."""

    def update(self, values: Sequence[Messages]) -> bool:
        """Take the histories that were written in a step, beside those of the others."""
        if not values:
            return False
        merged: Messages = dict(self.value) if self.is_available() else {}
        for value in values:
            merged |= value
        self.value = merged
        return True


class Seat(TypedDict):
    """A participant of a council: what the others know of it, and the skill behind it."""

    alias: str
    role: str
    skill_id: str


class Asked(TypedDict):
    """What a part of a council took of the models."""

    model: str
    calls: int
    """How often models were asked, those that failed too."""
    tokens: Tokens
    """What the answer took."""
    seconds: float


class Statement(Asked):
    """What a participant said in one round of a council, or why it said nothing."""

    round: int
    alias: str
    text: str
    stance: str
    """Its answer in a few words, by which participants are compared; empty when it gave none."""
    position: str
    """Its answer in one sentence."""
    confidence: int | None
    """How sure it is, in percent."""
    absence: str
    """Why it said nothing; empty when it spoke."""
    cut: int
    """Characters that its text was longer than what is kept of one."""


class Brief(Asked):
    """What a council is told of the chat that it was called from."""

    text: str
    status: Literal["distilled", "none", "failed"]
    """`none`: there was nothing to distil or nothing was wanted."""
    reason: str
    """Why it failed."""


class Synthesis(Asked):
    """What the rapporteur made of a council."""

    text: str
    level: str
    failures: list[str]
    """What kept other levels from it."""


class CouncilInput(TypedDict, total=False):
    """What a caller asks of a council; only the question and the participants must be there.

    What else is asked is asked of one run: the next council of a thread doesn't inherit it.
    """

    question: str
    participants: str | list[str]
    """Ids of skills, separated by commas or as a list."""
    target_model: Annotated[Level, EphemeralValue]
    """The level of the participants."""
    synthesis_model: Annotated[Level, EphemeralValue]
    """The level of the rapporteur."""
    rounds: Annotated[int, EphemeralValue]
    history_depth: Annotated[int, EphemeralValue]
    """How many of the newest messages are distilled for the participants."""
    distillation_focus: Annotated[str, EphemeralValue]
    messages: list[AnyMessage]
    """The chat that the question comes from."""


class CouncilOutput(TypedDict, total=False):
    """What a council gives back."""

    report: str
    deliberation: dict[str, Any]
    """Roster, rounds, absences, positions, movements, minority report, synthesis and usage, as JSON."""


class CouncilRecord(CouncilInput, CouncilOutput, total=False):
    """What of a deliberation its steps and streams may show."""

    seats: list[Seat]
    expert_level: Level
    rapporteur_level: Level
    rounds_planned: int
    depth: int
    focus: str
    notes: list[str]
    """What was done otherwise than asked, in sentences."""
    round: int
    """The round that is being held, from 1."""
    closed: bool
    """Whether no further round is held."""
    brief: Brief
    statements: Annotated[list[Statement], add]
    synthesis: Synthesis


class CouncilState(CouncilRecord, total=False):
    """One deliberation."""

    histories: Annotated[dict[str, list[AnyMessage]], Histories(dict)]
    """What each participant was sent and said, signatures included."""
