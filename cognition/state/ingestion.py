"""The states of the ingestion graph."""

from typing import Any, Literal

from typing_extensions import TypedDict


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
