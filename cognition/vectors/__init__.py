"""The vector database of the stores: an engine interface with an in-process implementation."""

from pathlib import Path

from cognition.vectors.port import (
    CollectionSpec,
    CorruptStore,
    Filter,
    Hit,
    Point,
    Record,
    Scores,
    SparseVector,
    StampMismatch,
    Vector,
    VectorCollection,
    VectorEngine,
)

__all__ = [
    "CollectionSpec",
    "CorruptStore",
    "Filter",
    "Hit",
    "Point",
    "Record",
    "Scores",
    "SparseVector",
    "StampMismatch",
    "Vector",
    "VectorCollection",
    "VectorEngine",
    "open_engine",
]


def open_engine(home: Path, url: str = "") -> VectorEngine:
    """Lock the home folder and return its vector engine. Blocking.

    Args:
        home: The home folder.
        url: The URL of this process's HTTP API; empty if it is not a server.

    Raises:
        FolderInUse: If another process holds the lock.
    """
    from cognition.vectors.embedded.engine import EmbeddedEngine  # noqa: PLC0415  # 12 MB of native code

    return EmbeddedEngine(home, url)
