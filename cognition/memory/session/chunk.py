"""A chunk of a source as it is stored: a point whose id says which version it is of and where in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from cognition.embedding import Stamp
from cognition.vectors import CollectionSpec

COLLECTION: Final = "echo_session_rag"


@dataclass(frozen=True, kw_only=True)
class SourceChunk:
    """A chunk of a source in one version. Times are unix seconds, UTC."""

    user_id: str
    chat_id: str
    source_id: str
    version: int
    chunk_index: int
    text: str
    char_range: Sequence[int]
    """Where it begins and ends in the source."""
    line_range: Sequence[int]
    """Its first and last line, from 1."""
    shared: int = 0
    """How many characters it begins with that are the end of the chunk before."""
    heading_path: Sequence[str] = ()
    tags: Sequence[str] = ()
    created_at: float = 0.0
    """When it was said or written."""
    indexed_at: float = 0.0
    embedding_model: str = ""

    @property
    def point_id(self) -> str:
        """The id of its point."""
        return point_id(self.version, self.chunk_index)

    @property
    def embedded_text(self) -> str:
        """What its embedding is of: what it adds to the chunk before, which embeds the rest.

        Where that is less than what they share it says little alone, and the embedding is of both.
        """
        added = self.text[self.shared :]
        return added if len(added.strip()) >= self.shared else self.text

    def payload(self) -> dict[str, Any]:
        """The point's payload; an empty list is left out, since each value costs time to store."""
        return {name: value for name, value in vars(self).items() if value != () and value != []}

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "SourceChunk":
        """The fragment that a payload holds."""
        return cls(**payload)


def collection_spec(stamp: Stamp) -> CollectionSpec:
    """The collection of session memory for an embedding model."""
    return CollectionSpec(
        COLLECTION,
        stamp,
        keywords=("chat_id", "source_id"),
        integers=("version",),
        floats=("created_at",),
        large=True,
    )


def point_id(version: int, index: int) -> str:
    """The version and the chunk's number as one UUID."""
    return str(UUID(int=version << 64 | index))


def place_of(point: str) -> tuple[int, int]:
    """The version and the chunk's number that a point's id says."""
    number = UUID(point).int
    return number >> 64, number & (1 << 64) - 1
