"""The states of the graphs but the council's: plain JSON values and messages only."""

from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel, EphemeralValue
from typing_extensions import TypedDict

from cognition.levels import Level
from cognition.messages.reducer import fold_messages


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
    notes_failed: bool
    """Whether none could be taken in this turn: it is not tried again in it."""
    turn: Turn
    calls: int
    """Tool calls of this turn."""
    steps: int
    """Model calls of all turns that are done."""
