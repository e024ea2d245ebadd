"""A shard on the disk: made whole, and opened only for the embedding model that filled it."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Final

import qdrant_edge as edge

from cognition.embedding import Stamp
from cognition.storage.disk.free_space import require_room
from cognition.vectors.port import TENANT, CollectionSpec, CorruptStore, StampMismatch

STAMP_FILE: Final = "stamp.json"
SHARD_FOLDER: Final = "shard"


def open_shard(folder: Path, spec: CollectionSpec) -> edge.EdgeShard:
    """The shard of a collection, made when it is not there; blocking. Whoever calls holds the folder's lock.

    Args:
        folder: The collection's own.
        spec: What it holds.

    Raises:
        StampMismatch: It was filled by another embedding model. Nothing is changed.
        CorruptStore: It can't be read.
        DiskFull: There is no room to open it.
    """
    if not folder.exists():
        _create(folder, spec)
    require_room(folder)
    try:
        stored = Stamp(**json.loads((folder / STAMP_FILE).read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise CorruptStore(_damaged(folder, error)) from error
    if stored != spec.stamp:
        raise StampMismatch(_mismatch(spec, stored))
    try:
        return edge.EdgeShard.load(str(folder / SHARD_FOLDER))
    except Exception as error:  # the engine has no exceptions of its own
        raise CorruptStore(_damaged(folder, error)) from error


def _create(folder: Path, spec: CollectionSpec) -> None:
    """Make the shard beside its place and move it there whole: a crash leaves no half of one."""
    require_room(folder.parent)
    making = folder.with_suffix(".new")
    shutil.rmtree(making, ignore_errors=True)
    (making / SHARD_FOLDER).mkdir(parents=True)
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
    shard = edge.EdgeShard.create(str(making / SHARD_FOLDER), config)
    index = edge.UpdateOperation.create_field_index
    shard.update(index(TENANT, edge.KeywordIndexParams(is_tenant=True)))
    for name in spec.keywords:
        shard.update(index(name, edge.KeywordIndexParams()))
    for name in spec.floats:
        shard.update(index(name, edge.FloatIndexParams()))
    for name in spec.integers:
        shard.update(index(name, edge.IntegerIndexParams(lookup=False, range=True)))
    shard.close()
    (making / STAMP_FILE).write_text(json.dumps(asdict(spec.stamp)))
    making.rename(folder)


def _damaged(folder: Path, error: Exception) -> str:
    return (
        f"What is stored in {str(folder)!r} can't be read ({error}). Put a copy of it in its place; or move "
        "it away, and a new one is made that is empty."
    )


def _mismatch(spec: CollectionSpec, stored: Stamp) -> str:
    return (
        f"The vectors of {spec.name!r} were made by {stored.model!r} ({stored.revision}, {stored.dims} "
        f"dimensions); the settings name {spec.stamp.model!r} ({spec.stamp.revision}, {spec.stamp.dims}). "
        "Set the old model again, or run `cognition reembed` to embed what is stored with the new one."
    )
