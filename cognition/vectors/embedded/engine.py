"""The Qdrant engine in this process: one shard per collection, made durable by a write-ahead log."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Condition, Lock
from typing import Any, Final, ParamSpec, TypeVar, cast
from uuid import UUID

import numpy as np
import qdrant_edge as edge

from cognition.concurrency.tasks import wait_despite_cancel
from cognition.identity import check_user
from cognition.storage.disk.folder_lock import FolderLock
from cognition.storage.disk.free_space import require_free_space
from cognition.vectors.embedded import requests
from cognition.vectors.embedded.shard import open_shard
from cognition.vectors.port import (
    TENANT,
    CollectionSpec,
    Filter,
    Hit,
    Point,
    Record,
    Scores,
    SparseVector,
    Vector,
)

P = ParamSpec("P")
T = TypeVar("T")

BATCH: Final = 256
"""Maximum number of points per upsert, which holds the GIL; larger batches would delay other tasks."""

MAX_VALUES: Final = 100_000
"""Maximum number of distinct values returned for a field."""


class EmbeddedEngine:
    """The vector engine of a home folder.

    Args:
        home: The home folder. It is locked before any shard is loaded, because loading a shard a second time,
            even unsuccessfully, damages it for the process that has it open.
        url: The URL of this process's HTTP API, recorded with the lock; empty if it is not a server.

    Raises:
        FolderInUse: If another process holds the lock.
    """

    def __init__(self, home: Path, url: str = "") -> None:
        self._lock = FolderLock(home, url)
        self._root = home / "vectors"
        self._open: dict[str, EmbeddedCollection] = {}
        self._opening = Lock()
        self._closed = False

    async def collection(self, spec: CollectionSpec) -> "EmbeddedCollection":
        """Open a collection, creating it if it does not exist."""
        return await asyncio.to_thread(self._collection, spec)

    async def aclose(self) -> None:
        """Write everything to disk and release the home folder; safe to call again."""
        if not self._closed:
            self._closed = True
            for collection in self._open.values():
                await asyncio.to_thread(collection.close)
            await asyncio.to_thread(self._lock.release)

    def _collection(self, spec: CollectionSpec) -> "EmbeddedCollection":
        with self._opening:
            if spec.name not in self._open:
                folder = self._root / spec.name
                self._open[spec.name] = EmbeddedCollection(spec, open_shard(folder, spec), folder)
            return self._open[spec.name]


class EmbeddedCollection:
    """A collection backed by a shard. Calls run in worker threads, since the engine releases the GIL."""

    def __init__(self, spec: CollectionSpec, shard: edge.EdgeShard, folder: Path) -> None:
        self.spec = spec
        self.shard = shard
        self._folder = folder
        self._calls = 0
        self._changing = Condition()

    def close(self) -> None:
        """Close the shard once all calls in worker threads have returned. Blocking.

        A cancelled task leaves its call running, and closing the shard during a call breaks it.
        """
        with self._changing:
            self._changing.wait_for(lambda: not self._calls)
            self.shard.close()

    async def upsert(self, points: Sequence[Point]) -> None:
        """Store points in batches."""
        for point in points:
            self._check(point)
        for batch in _batches(points):
            await self._change(self._upsert, batch)

    async def add_vectors(self, user_id: str, vectors: Mapping[str, Vector]) -> None:
        """Set the embeddings of stored points."""
        for vector in vectors.values():
            self._check_vector(vector)
        own = requests.condition(Filter(user_id))
        for batch in _batches(list(vectors.items())):
            await self._change(self._add_vectors, batch, own)

    async def delete(self, where: Filter) -> int:
        """Delete the matching points and return their number."""
        matching = await self.count(where)
        operation = edge.UpdateOperation.delete_points_by_filter(requests.condition(where))
        await self._change(self._update, operation)
        return matching

    async def set_payload(self, where: Filter, payload: Mapping[str, Any]) -> None:
        """Set payload fields on the matching points."""
        operation = edge.UpdateOperation.set_payload_by_filter(requests.condition(where), dict(payload))
        await self._change(self._update, operation)

    async def retrieve(self, user_id: str, ids: Sequence[str]) -> list[Record]:
        """Return the user's points with these ids, in this order."""
        check_user(user_id)
        if not ids:
            return []
        records = await self._call(self.shard.retrieve, list(ids), True, False)
        by_id = {str(record.id): requests.record(record) for record in records}
        return [by_id[id_] for id_ in ids if id_ in by_id and by_id[id_].payload.get(TENANT) == user_id]

    async def vectors(self, user_id: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the embeddings of the user's points with these ids."""
        check_user(user_id)
        if not ids:
            return {}
        records = await self._call(self.shard.retrieve, list(ids), [TENANT], ["dense"])
        return {
            str(record.id): np.array(vector["dense"], dtype=np.float32)
            for record in records
            if (record.payload or {}).get(TENANT) == user_id
            and isinstance(vector := record.vector, dict)
            and "dense" in vector
        }

    async def best(
        self, where: Filter, corpus: Filter, dense: Vector, sparse: SparseVector, limit: int
    ) -> Scores:
        """Return both scores of the points that rank best by either score."""
        return await self._call(self._best, where, corpus, dense, sparse, limit)

    async def scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        """Return both scores of every matching point."""
        return await self._call(self._scores, where, dense, sparse)

    async def nearest(self, where: Filter, dense: Vector, limit: int) -> list[Hit]:
        """Return the points nearest by cosine."""
        if limit < 1:
            return []
        points = await self._call(self.shard.query, requests.near(where, dense, limit))
        return [Hit(str(point.id), point.score) for point in points]

    async def scroll(self, where: Filter, limit: int, *, order_by: str = "", offset: int = 0) -> list[Record]:
        """Return a page of points, ordered by a numeric field in descending order, or by id."""
        request = edge.ScrollRequest(
            limit=max(limit + offset, 1),
            filter=requests.condition(where),
            with_payload=True,
            order_by=edge.OrderBy(order_by, direction=edge.Direction.Desc) if order_by else None,
        )
        records, _ = await self._call(self.shard.scroll, request)
        return [requests.record(record) for record in records[offset : offset + limit]]

    async def values(self, where: Filter, field: str) -> set[str]:
        """Return the distinct values of a keyword field."""
        hits = await self._call(self._facet, where, field, exact=False)
        return {str(hit.value) for hit in hits}

    async def facet(self, where: Filter, field: str) -> dict[str, int]:
        """Return the number of points per value, most frequent first."""
        hits = await self._call(self._facet, where, field, exact=True)
        return {str(hit.value): hit.count for hit in hits}

    async def count(self, where: Filter) -> int:
        """Return the number of matching points."""
        return await self._call(self._count, where)

    async def flush(self) -> None:
        """Flush the write-ahead log."""
        await self._call(self.shard.flush)

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the shard in a worker thread."""
        return await asyncio.to_thread(partial(self._counted, function, *args, **kwargs))

    async def _change(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Write to the shard. A cancelled task waits for the call, so that nothing is written afterwards."""
        await wait_despite_cancel(asyncio.ensure_future(self._call(function, *args, **kwargs)))

    def _counted(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._changing:
            self._calls += 1
        try:
            return function(*args, **kwargs)
        finally:
            with self._changing:
                self._calls -= 1
                self._changing.notify_all()

    def _upsert(self, points: Sequence[Point]) -> None:
        # Converting the points takes longer than storing them, so it is kept off the event loop.
        self._update(edge.UpdateOperation.upsert_points([requests.stored(point) for point in points]))

    def _add_vectors(self, vectors: Sequence[tuple[str, Any]], own: edge.Filter) -> None:
        changed = [edge.PointVectors(id_, {"dense": vector.tolist()}) for id_, vector in vectors]
        self._update(edge.UpdateOperation.update_vectors(changed, own))

    def _update(self, operation: edge.UpdateOperation) -> None:
        require_free_space(self._folder)  # writing to mapped files on a full disk would kill the process
        self.shard.update(operation)

    def _count(self, where: Filter) -> int:
        return self.shard.count(edge.CountRequest(filter=requests.condition(where), exact=True))

    def _facet(self, where: Filter, field: str, *, exact: bool) -> list[edge.FacetHit]:
        request = edge.FacetRequest(
            key=field, limit=MAX_VALUES, exact=exact, filter=requests.condition(where)
        )
        return self.shard.facet(request).hits

    def _scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        limit = max(self._count(where), 1)
        near = self.shard.query(requests.near(where, dense, limit))
        ids = [cast("UUID", point.id) for point in near]
        cosine = np.array([point.score for point in near], dtype=np.float32)
        lexical = np.zeros(len(ids), dtype=np.float32)
        if ids and sparse.indices:
            # The document frequencies are per user, so that one user's texts do not affect another's ranking.
            own = Filter(where.user_id)
            row_of = {id_: row for row, id_ in enumerate(ids)}
            for point in self.shard.query(requests.sharing(where, own, sparse, limit)):
                # A point stored between the two queries has no cosine; the next search finds it.
                if (row := row_of.get(cast("UUID", point.id))) is not None:
                    lexical[row] = point.score
        return Scores(ids, cosine, lexical)

    def _best(self, where: Filter, corpus: Filter, dense: Vector, sparse: SparseVector, limit: int) -> Scores:
        def by_words(among: Filter, count: int) -> dict[UUID, float]:
            if not (count and sparse.indices):
                return {}
            return _scores_by_id(self.shard.query(requests.sharing(among, corpus, sparse, count)))

        def by_meaning(among: Filter, count: int) -> dict[UUID, float]:
            return _scores_by_id(self.shard.query(requests.near(among, dense, count))) if count else {}

        cosine, lexical = by_meaning(where, limit), by_words(where, limit)
        # A point that ranks among the best by one score may rank anywhere by the other.
        near, sharing = cosine.keys() - lexical.keys(), lexical.keys() - cosine.keys()
        cosine |= by_meaning(replace(where, ids=list(map(str, sharing))), len(sharing))
        lexical |= by_words(replace(where, ids=list(map(str, near))), len(near))
        ids = list(cosine.keys() | lexical.keys())
        return Scores(
            ids,
            np.array([cosine.get(id_, -1.0) for id_ in ids], dtype=np.float32),
            np.array([lexical.get(id_, 0.0) for id_ in ids], dtype=np.float32),
        )

    def _check(self, point: Point) -> None:
        check_user(point.payload.get(TENANT))
        if point.dense is not None:
            self._check_vector(point.dense)

    def _check_vector(self, vector: Vector) -> None:
        dims = self.spec.stamp.dims
        if vector.shape != (dims,) or not np.isfinite(vector).all():
            msg = (
                f"Invalid vector for {self.spec.name!r}: expected {dims} finite numbers, got an array of "
                f"shape {vector.shape}."
            )
            raise ValueError(msg)


def _scores_by_id(points: Sequence[edge.ScoredPoint]) -> dict[UUID, float]:
    return {cast("UUID", point.id): point.score for point in points}


def _batches(items: Sequence[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        yield batch
