"""The states of the ingestion graph."""

from typing import Any, Literal

from typing_extensions import TypedDict


class Received(TypedDict):
    """A file of the input after it was stored and registered, or rejected."""

    name: str
    resource_id: str
    """The id of the resource; empty if the file was rejected."""
    known: bool
    """True if the chat already has this content and it needs no further processing."""
    error: str
    """The reason for the rejection; empty if the file was accepted."""


class IngestedFile(TypedDict):
    """The result for one file."""

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
    """A remark in addition to the status; may be empty."""


class IngestionInput(TypedDict, total=False):
    """The input of an ingestion; only the files are required."""

    files: list[dict[str, Any]]
    """Each is `{"path"}`, with `recursive` for a folder; `{"name", "mime", "data"}` with base64 data; a
    content block of a message; or `{"resource_id"}` to resume the ingestion of a resource of the chat."""
    context_fill: float
    """The used share of the context, 0–1."""
    message_id: str
    """The message to which the files were attached."""


class IngestionOutput(TypedDict, total=False):
    """The output of an ingestion."""

    report: list[IngestedFile]


class IngestionState(IngestionInput, IngestionOutput, total=False):
    """The state of an ingestion. Contents are stored in the chat's files, results in the registry."""

    received: list[Received]
    started_at: float


class FileState(TypedDict, total=False):
    """The state of a branch, which processes one file."""

    resource_id: str
    context_fill: float
    started_at: float
    destination: Literal["put_in_context", "vectorize", "register_only"]


class FileOutput(TypedDict, total=False):
    """The output of a branch: only the id of the file, because the registry contains the result."""

    resource_id: str
