"""The shard of a collection on disk: created atomically, and opened only for its embedding model."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Final

import qdrant_edge as edge

from cognition.embedding import Stamp
from cognition.storage.disk.free_space import require_free_space
from cognition.vectors.port import TENANT, CollectionSpec, CorruptStore, StampMismatch

STAMP_FILE: Final = "stamp.json"
SHARD_FOLDER: Final = "shard"


def open_shard(folder: Path, spec: CollectionSpec) -> edge.EdgeShard:
    """Open the shard of a collection, creating it if it does not exist. Blocking.

    The caller must hold the lock on the home folder.

    Args:
        folder: The folder of the collection.
        spec: The schema of the collection.

    Raises:
        StampMismatch: If its vectors were created with another embedding model. Nothing is changed.
        CorruptStore: If it can't be read.
        DiskFull: If there is not enough disk space to open it.
    """
    if not folder.exists():
        _create(folder, spec)
    require_free_space(folder)
    try:
        stored = Stamp(**json.loads((folder / STAMP_FILE).read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise CorruptStore(_damaged(folder, error)) from error
    if stored != spec.stamp:
        raise StampMismatch(_mismatch(spec, stored))
    try:
        return edge.EdgeShard.load(str(folder / SHARD_FOLDER))
    except Exception as error:  # the engine defines no exceptions
        raise CorruptStore(_damaged(folder, error)) from error


def _create(folder: Path, spec: CollectionSpec) -> None:
    """Create the shard in a temporary folder, then rename it: a crash leaves no incomplete shard."""
    require_free_space(folder.parent)
    temporary = folder.with_suffix(".new")
    shutil.rmtree(temporary, ignore_errors=True)
    (temporary / SHARD_FOLDER).mkdir(parents=True)
    config = edge.EdgeConfig(
        vectors={
            "dense": edge.EdgeVectorParams(
                size=spec.stamp.dims,
                distance=edge.Distance.Cosine,
                memory=edge.Memory.Cold if spec.large else None,
            )
        },
        sparse_vectors={"sparse": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        wal_enabled=True,
    )
    shard = edge.EdgeShard.create(str(temporary / SHARD_FOLDER), config)
    index = edge.UpdateOperation.create_field_index
    shard.update(index(TENANT, edge.KeywordIndexParams(is_tenant=True)))
    for name in spec.keywords:
        shard.update(index(name, edge.KeywordIndexParams()))
    for name in spec.floats:
        shard.update(index(name, edge.FloatIndexParams()))
    for name in spec.integers:
        shard.update(index(name, edge.IntegerIndexParams(lookup=False, range=True)))
    shard.close()
    (temporary / STAMP_FILE).write_text(json.dumps(asdict(spec.stamp)))
    temporary.rename(folder)


def _damaged(folder: Path, error: Exception) -> str:
    return (
        f"Could not read the vectors in {str(folder)!r} ({error}). Restore the folder from a backup, or move "
        "it away to start with an empty one."
    )


def _mismatch(spec: CollectionSpec, stored: Stamp) -> str:
    return (
        f"The vectors of {spec.name!r} were created with {stored.model!r} ({stored.revision}, {stored.dims} "
        f"dimensions), but the settings select {spec.stamp.model!r} ({spec.stamp.revision}, "
        f"{spec.stamp.dims} dimensions). Select the previous model again, or run `cognition reembed` to "
        "embed the stored texts with the new one."
    )
