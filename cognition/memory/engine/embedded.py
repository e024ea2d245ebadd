"""Qdrant in this process: one shard per collection under the folder, durable through its write-ahead log."""

import asyncio
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Final, cast
from uuid import UUID

import numpy as np
import qdrant_edge as edge

from cognition.embedding import Stamp
from cognition.memory.engine.port import (
    TENANT,
    CollectionSpec,
    Filter,
    Hit,
    Point,
    Record,
    Scores,
    SparseVector,
    StampMismatch,
    Vector,
    check_user,
)
from cognition.storage.folder import FolderLock

BATCH: Final = 256
"""Points of one operation: an upsert holds the interpreter's lock; more would be felt by other tasks."""

MANY: Final = 100_000
"""Values of one field that are counted at most."""

STAMP_FILE: Final = "stamp.json"
SHARD_FOLDER: Final = "shard"


class EmbeddedEngine:
    """The engine over a folder.

    Args:
        home: The folder. It is locked before any shard is loaded: a second load, even one that fails, damages
            the shard of the first holder.
        url: Where this process's HTTP API answers, if it serves one; the lock tells others.

    Raises:
        FolderInUse: Another process holds the folder.
    """

    def __init__(self, home: Path, url: str = "") -> None:
        self._lock = FolderLock(home, url)
        self._root = home / "vectors"
        self._open: dict[str, EmbeddedCollection] = {}
        self._opening = Lock()
        self._closed = False

    async def collection(self, spec: CollectionSpec) -> "EmbeddedCollection":
        """Open a collection, making it when it is not there."""
        return await asyncio.to_thread(self._collection, spec)

    async def aclose(self) -> None:
        """Write everything to disk and let go of the folder; safe to call again."""
        if not self._closed:
            self._closed = True
            for collection in self._open.values():
                await asyncio.to_thread(collection.shard.close)
            self._lock.release()

    def _collection(self, spec: CollectionSpec) -> "EmbeddedCollection":
        with self._opening:
            if spec.name not in self._open:
                folder = self._root / spec.name
                if not folder.exists():
                    _create(folder, spec)
                stored = Stamp(**json.loads((folder / STAMP_FILE).read_text()))
                if stored != spec.stamp:
                    raise StampMismatch(_mismatch(spec, stored))
                shard = edge.EdgeShard.load(str(folder / SHARD_FOLDER))
                self._open[spec.name] = EmbeddedCollection(spec, shard)
            return self._open[spec.name]


class EmbeddedCollection:
    """A shard behind the port. Calls run in threads: the engine lets go of the interpreter's lock."""

    def __init__(self, spec: CollectionSpec, shard: edge.EdgeShard) -> None:
        self.spec = spec
        self.shard = shard

    async def upsert(self, points: Sequence[Point]) -> None:
        """Store points, a batch an operation."""
        for point in points:
            self._check(point)
        for batch in _batches(points):
            operation = edge.UpdateOperation.upsert_points([_point(point) for point in batch])
            await asyncio.to_thread(self.shard.update, operation)

    async def delete(self, where: Filter) -> int:
        """Remove the points that match."""
        found = await self.count(where)
        await asyncio.to_thread(
            self.shard.update, edge.UpdateOperation.delete_points_by_filter(_filter(where))
        )
        return found

    async def set_payload(self, where: Filter, payload: Mapping[str, Any]) -> None:
        """Set payload fields on the points that match."""
        operation = edge.UpdateOperation.set_payload_by_filter(_filter(where), dict(payload))
        await asyncio.to_thread(self.shard.update, operation)

    async def retrieve(self, user_id: str, ids: Sequence[str]) -> list[Record]:
        """The user's points of these ids, in that order."""
        check_user(user_id)
        if not ids:
            return []
        records = await asyncio.to_thread(self.shard.retrieve, list(ids), True, False)
        found = {str(record.id): _record(record) for record in records}
        return [found[id_] for id_ in ids if id_ in found and found[id_].payload.get(TENANT) == user_id]

    async def scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        """Score every point that matches, by meaning and by words."""
        return await asyncio.to_thread(self._scores, where, dense, sparse)

    async def nearest(self, where: Filter, dense: Vector, limit: int) -> list[Hit]:
        """The points nearest by cosine."""
        if limit < 1:
            return []
        found = await asyncio.to_thread(self.shard.query, _near(where, dense, limit))
        return [Hit(str(point.id), point.score) for point in found]

    async def scroll(self, where: Filter, limit: int, *, order_by: str = "", offset: int = 0) -> list[Record]:
        """Points by a number, largest first, or by their ids."""
        request = edge.ScrollRequest(
            limit=max(limit + offset, 1),
            filter=_filter(where),
            with_payload=True,
            order_by=edge.OrderBy(order_by, direction=edge.Direction.Desc) if order_by else None,
        )
        records, _ = await asyncio.to_thread(self.shard.scroll, request)
        return [_record(record) for record in records[offset : offset + limit]]

    async def values(self, where: Filter, field: str) -> set[str]:
        """Which values a keyword field has."""
        hits = await asyncio.to_thread(self._facet, where, field, exact=False)
        return {str(hit.value) for hit in hits}

    async def facet(self, where: Filter, field: str) -> dict[str, int]:
        """Counts per value, most frequent first."""
        hits = await asyncio.to_thread(self._facet, where, field, exact=True)
        return {str(hit.value): hit.count for hit in hits}

    async def count(self, where: Filter) -> int:
        """How many points match."""
        return await asyncio.to_thread(self._count, where)

    def _count(self, where: Filter) -> int:
        return self.shard.count(edge.CountRequest(filter=_filter(where), exact=True))

    def _facet(self, where: Filter, field: str, *, exact: bool) -> list[edge.FacetHit]:
        request = edge.FacetRequest(key=field, limit=MANY, exact=exact, filter=_filter(where))
        return self.shard.facet(request).hits

    def _scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        limit = max(self._count(where), 1)
        near = self.shard.query(_near(where, dense, limit))
        ids = [cast("UUID", point.id) for point in near]
        cosine = np.array([point.score for point in near], dtype=np.float32)
        lexical = np.zeros(len(ids), dtype=np.float32)
        if ids and sparse.indices:
            place = {id_: number for number, id_ in enumerate(ids)}
            for point in self.shard.query(_sharing(where, sparse, limit)):
                # A point that was stored between the two queries has no cosine: the next search finds it.
                if (number := place.get(cast("UUID", point.id))) is not None:
                    lexical[number] = point.score
        return Scores(ids, cosine, lexical)

    def _check(self, point: Point) -> None:
        check_user(point.payload.get(TENANT))
        dims = self.spec.stamp.dims
        if point.dense.shape != (dims,) or not np.isfinite(point.dense).all():
            msg = (
                f"The vector of {point.id!r} must be {dims} finite numbers; its shape is {point.dense.shape}."
            )
            raise ValueError(msg)


def _create(folder: Path, spec: CollectionSpec) -> None:
    """Make the shard beside its place and move it there whole: a crash leaves no half of one."""
    making = folder.with_suffix(".new")
    shutil.rmtree(making, ignore_errors=True)
    (making / SHARD_FOLDER).mkdir(parents=True)
    config = edge.EdgeConfig(
        vectors={"dense": edge.EdgeVectorParams(size=spec.stamp.dims, distance=edge.Distance.Cosine)},
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
        shard.update(index(name, edge.IntegerIndexParams(lookup=True, range=True)))
    shard.close()
    (making / STAMP_FILE).write_text(json.dumps(asdict(spec.stamp)))
    making.rename(folder)


def _mismatch(spec: CollectionSpec, stored: Stamp) -> str:
    return (
        f"The vectors of {spec.name!r} were made by {stored.model!r} ({stored.revision}, {stored.dims} "
        f"dimensions); the settings name {spec.stamp.model!r} ({spec.stamp.revision}, {spec.stamp.dims}). "
        "Set the old model again, or run `cognition reembed` to embed what is stored with the new one."
    )


def _near(where: Filter, dense: Vector, limit: int) -> edge.QueryRequest:
    return _query(dense, "dense", where, limit, edge.SearchParams(exact=True))


def _sharing(where: Filter, sparse: SparseVector, limit: int) -> edge.QueryRequest:
    terms = edge.SparseVector(list(sparse.indices), list(sparse.values))
    # The document frequencies are the user's own: what others wrote changes nobody's ranking.
    corpus = edge.IdfParams(corpus=_filter(Filter(where.user_id)))
    return _query(terms, "sparse", where, limit, edge.SearchParams(idf=corpus))


def _query(
    vector: Any, using: str, where: Filter, limit: int, params: edge.SearchParams
) -> edge.QueryRequest:
    return edge.QueryRequest(
        query=edge.Query.Nearest(vector, using=using), filter=_filter(where), limit=limit, params=params
    )


def _filter(where: Filter) -> edge.Filter:
    must: list[Any] = [edge.FieldCondition(TENANT, match=edge.MatchValue(value=where.user_id))]
    for name, value in where.equals.items():
        must.append(edge.FieldCondition(name, match=edge.MatchValue(value=value)))
    for name, (low, high) in where.between.items():
        must.append(edge.FieldCondition(name, range=edge.RangeFloat(gte=low, lte=high)))
    if where.ids is not None:
        must.append(edge.HasIdCondition(set(where.ids)))
    return edge.Filter(must=must)


def _point(point: Point) -> edge.Point:
    sparse = edge.SparseVector(list(point.sparse.indices), list(point.sparse.values))
    vectors: dict[str, Any] = {"dense": point.dense, "sparse": sparse}
    return edge.Point(id=point.id, vector=vectors, payload=dict(point.payload))


def _record(record: edge.Record) -> Record:
    return Record(str(record.id), dict(record.payload or {}))


def _batches(points: Sequence[Point]) -> Iterator[list[Point]]:
    remaining = iter(points)
    while batch := list(islice(remaining, BATCH)):
        yield batch
