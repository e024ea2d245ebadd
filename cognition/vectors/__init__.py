"""The vector database under the stores: one port, served in process."""

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
    """The engine over a folder. Blocking: locks the folder and loads native code.

    Args:
        home: The folder.
        url: Where this process's HTTP API answers, if it serves one.

    Raises:
        FolderInUse: Another process holds the folder.
    """
    from cognition.vectors.embedded.engine import EmbeddedEngine  # noqa: PLC0415  # 12 MB of native code

    return EmbeddedEngine(home, url)
