"""The states of the graphs: plain JSON values and messages only."""

from operator import add
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel, EphemeralValue
from typing_extensions import TypedDict

from cognition.council.histories import Histories
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
    seconds: float


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
    deadline: float
    """The time, in seconds since the epoch, at which the council has ended."""
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


class Received(TypedDict):
    """One file of an ingestion's input, stored and registered."""

    name: str
    resource_id: str
    """Empty for what was not taken."""
    known: bool
    """Whether the chat had this content and was done with it."""
    error: str
    """Why it was not taken."""


class IngestedFile(TypedDict):
    """What became of one file."""

    name: str
    resource_id: str
    known: bool
    resource_type: str
    mime: str
    size: int
    status: str
    chunks: int
    error: str
    note: str
    """What there is to know beside the status."""


class IngestionInput(TypedDict, total=False):
    """What a caller gives to a chat; only the files must be there."""

    files: list[dict[str, Any]]
    """Each one `{"path"}`, with `recursive` for a folder; `{"name", "mime", "data"}` with contents in base64;
    a content block of a message; or `{"resource_id"}` of what the chat has, to go on with it."""
    context_fill: float
    """How full the context is, 0–1."""
    message_id: str
    """The message that the files came with."""


class IngestionOutput(TypedDict, total=False):
    """What an ingestion gives back."""

    report: list[IngestedFile]


class IngestionState(IngestionInput, IngestionOutput, total=False):
    """One ingestion; contents are in the chat's files, and what became of them in the registry."""

    received: list[Received]
    started_at: float


class FileState(TypedDict, total=False):
    """One branch of an ingestion: one file."""

    resource_id: str
    context_fill: float
    started_at: float
    destination: Literal["put_in_context", "vectorize", "register_only"]


class FileOutput(TypedDict, total=False):
    """What a branch gives back: nothing but which file it was, because the registry says the rest."""

    resource_id: str


class Outcome(TypedDict):
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

    outcome: Outcome


class DelegationState(DelegationInput, DelegationOutput, total=False):
    """A sub-agent's thread. The role in the caller's words is the first of its messages."""

    messages: Annotated[list[AnyMessage], DeltaChannel(fold_messages, snapshot_frequency=30)]
    summary: str
    """Notes on the oldest exchanges, which are no longer among the messages."""
    turn: Turn
    calls: int
    """Tool calls of this turn."""
    steps: int
    """Model calls of all turns that are done."""
