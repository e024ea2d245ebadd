"""The stored form of a chunk: a point whose id encodes the source's version and the chunk's number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from cognition.embedding import Stamp
from cognition.vectors import CollectionSpec

COLLECTION: Final = "echo_session_rag"


@dataclass(frozen=True, kw_only=True)
class SourceChunk:
    """A chunk of a version of a source. Times are unix seconds."""

    user_id: str
    chat_id: str
    source_id: str
    version: int
    chunk_index: int
    text: str
    char_range: Sequence[int]
    """Its start and end in the source, in characters."""
    line_range: Sequence[int]
    """Its first and last line, from 1."""
    shared: int = 0
    """Number of leading characters shared with the end of the previous chunk."""
    heading_path: Sequence[str] = ()
    tags: Sequence[str] = ()
    created_at: float = 0.0
    """The time at which the text was said or written."""
    indexed_at: float = 0.0
    embedding_model: str = ""

    @property
    def point_id(self) -> str:
        """The id of the chunk's point."""
        return point_id(self.version, self.chunk_index)

    @property
    def embedded_text(self) -> str:
        """The text to embed: the part not shared with the previous chunk, whose embedding covers the rest.

        If that part is shorter than the shared one, it is too little to embed by itself, so that the whole
        text is embedded.
        """
        added = self.text[self.shared :]
        return added if len(added.strip()) >= self.shared else self.text

    def payload(self) -> dict[str, Any]:
        """Return the point's payload. Empty lists are omitted, since each value takes time to store."""
        return {name: value for name, value in vars(self).items() if value != () and value != []}

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "SourceChunk":
        """Create a chunk from a payload."""
        return cls(**payload)


def collection_spec(stamp: Stamp) -> CollectionSpec:
    """Return the schema of the session memory collection for an embedding model."""
    return CollectionSpec(
        COLLECTION,
        stamp,
        keywords=("chat_id", "source_id"),
        integers=("version",),
        floats=("created_at",),
        large=True,
    )


def point_id(version: int, index: int) -> str:
    """Encode the version and the chunk's number as a UUID."""
    return str(UUID(int=version << 64 | index))


def place_of(point: str) -> tuple[int, int]:
    """Decode the version and the chunk's number from a point's id."""
    number = UUID(point).int
    return number >> 64, number & (1 << 64) - 1
