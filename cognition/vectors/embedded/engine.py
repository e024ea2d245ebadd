"""Qdrant in this process: one shard per collection under the folder, durable through its write-ahead log."""

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
from cognition.storage.disk.free_space import require_room
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
"""Points of one operation: an upsert holds the interpreter's lock; more would be felt by other tasks."""

MANY: Final = 100_000
"""Values of one field that are counted at most."""


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
                await asyncio.to_thread(collection.close)
            self._lock.release()

    def _collection(self, spec: CollectionSpec) -> "EmbeddedCollection":
        with self._opening:
            if spec.name not in self._open:
                folder = self._root / spec.name
                self._open[spec.name] = EmbeddedCollection(spec, open_shard(folder, spec), folder)
            return self._open[spec.name]


class EmbeddedCollection:
    """A shard behind the port. Calls run in threads: the engine lets go of the interpreter's lock."""

    def __init__(self, spec: CollectionSpec, shard: edge.EdgeShard, folder: Path) -> None:
        self.spec = spec
        self.shard = shard
        self._folder = folder
        self._calls = 0
        self._changing = Condition()

    def close(self) -> None:
        """Close the shard, once what is still read or written in a thread has come to its end; blocking.

        Who is cancelled leaves such a thread behind, and a shard that is closed under it breaks.
        """
        with self._changing:
            self._changing.wait_for(lambda: not self._calls)
            self.shard.close()

    async def upsert(self, points: Sequence[Point]) -> None:
        """Store points, a batch an operation."""
        for point in points:
            self._check(point)
        for batch in _batches(points):
            await self._change(self._upsert, batch)

    async def add_vectors(self, user_id: str, vectors: Mapping[str, Vector]) -> None:
        """Give points their embeddings."""
        for vector in vectors.values():
            self._check_vector(vector)
        own = requests.condition(Filter(user_id))
        for batch in _batches(list(vectors.items())):
            await self._change(self._add_vectors, batch, own)

    async def delete(self, where: Filter) -> int:
        """Remove the points that match."""
        found = await self.count(where)
        operation = edge.UpdateOperation.delete_points_by_filter(requests.condition(where))
        await self._change(self._update, operation)
        return found

    async def set_payload(self, where: Filter, payload: Mapping[str, Any]) -> None:
        """Set payload fields on the points that match."""
        operation = edge.UpdateOperation.set_payload_by_filter(requests.condition(where), dict(payload))
        await self._change(self._update, operation)

    async def retrieve(self, user_id: str, ids: Sequence[str]) -> list[Record]:
        """The user's points of these ids, in that order."""
        check_user(user_id)
        if not ids:
            return []
        records = await self._call(self.shard.retrieve, list(ids), True, False)
        found = {str(record.id): requests.record(record) for record in records}
        return [found[id_] for id_ in ids if id_ in found and found[id_].payload.get(TENANT) == user_id]

    async def vectors(self, user_id: str, ids: Sequence[str]) -> dict[str, Vector]:
        """The embeddings of the user's points of these ids."""
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
        """Both scores of the points that are among the best by meaning or by words."""
        return await self._call(self._best, where, corpus, dense, sparse, limit)

    async def scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        """Score every point that matches, by meaning and by words."""
        return await self._call(self._scores, where, dense, sparse)

    async def nearest(self, where: Filter, dense: Vector, limit: int) -> list[Hit]:
        """The points nearest by cosine."""
        if limit < 1:
            return []
        found = await self._call(self.shard.query, requests.near(where, dense, limit))
        return [Hit(str(point.id), point.score) for point in found]

    async def scroll(self, where: Filter, limit: int, *, order_by: str = "", offset: int = 0) -> list[Record]:
        """Points by a number, largest first, or by their ids."""
        request = edge.ScrollRequest(
            limit=max(limit + offset, 1),
            filter=requests.condition(where),
            with_payload=True,
            order_by=edge.OrderBy(order_by, direction=edge.Direction.Desc) if order_by else None,
        )
        records, _ = await self._call(self.shard.scroll, request)
        return [requests.record(record) for record in records[offset : offset + limit]]

    async def values(self, where: Filter, field: str) -> set[str]:
        """Which values a keyword field has."""
        hits = await self._call(self._facet, where, field, exact=False)
        return {str(hit.value) for hit in hits}

    async def facet(self, where: Filter, field: str) -> dict[str, int]:
        """Counts per value, most frequent first."""
        hits = await self._call(self._facet, where, field, exact=True)
        return {str(hit.value): hit.count for hit in hits}

    async def count(self, where: Filter) -> int:
        """How many points match."""
        return await self._call(self._count, where)

    async def flush(self) -> None:
        """Write all to its place."""
        await self._call(self.shard.flush)

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what asks the shard in a thread."""
        return await asyncio.to_thread(partial(self._counted, function, *args, **kwargs))

    async def _change(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """The same for a write; who is cancelled meanwhile waits for it, so that nothing is written after."""
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
        # Making the points takes longer than storing them: not on the event loop.
        self._update(edge.UpdateOperation.upsert_points([requests.stored(point) for point in points]))

    def _add_vectors(self, vectors: Sequence[tuple[str, Any]], own: edge.Filter) -> None:
        changed = [edge.PointVectors(id_, {"dense": vector.tolist()}) for id_, vector in vectors]
        self._update(edge.UpdateOperation.update_vectors(changed, own))

    def _update(self, operation: edge.UpdateOperation) -> None:
        require_room(self._folder)  # the engine writes to mapped files: on a full disk the process is killed
        self.shard.update(operation)

    def _count(self, where: Filter) -> int:
        return self.shard.count(edge.CountRequest(filter=requests.condition(where), exact=True))

    def _facet(self, where: Filter, field: str, *, exact: bool) -> list[edge.FacetHit]:
        request = edge.FacetRequest(key=field, limit=MANY, exact=exact, filter=requests.condition(where))
        return self.shard.facet(request).hits

    def _scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        limit = max(self._count(where), 1)
        near = self.shard.query(requests.near(where, dense, limit))
        ids = [cast("UUID", point.id) for point in near]
        cosine = np.array([point.score for point in near], dtype=np.float32)
        lexical = np.zeros(len(ids), dtype=np.float32)
        if ids and sparse.indices:
            # The document frequencies are the user's own: what others wrote changes nobody's ranking.
            own = Filter(where.user_id)
            place = {id_: number for number, id_ in enumerate(ids)}
            for point in self.shard.query(requests.sharing(where, own, sparse, limit)):
                # A point that was stored between the two queries has no cosine: the next search finds it.
                if (number := place.get(cast("UUID", point.id))) is not None:
                    lexical[number] = point.score
        return Scores(ids, cosine, lexical)

    def _best(self, where: Filter, corpus: Filter, dense: Vector, sparse: SparseVector, limit: int) -> Scores:
        def by_words(among: Filter, most: int) -> dict[UUID, float]:
            if not (most and sparse.indices):
                return {}
            return _found(self.shard.query(requests.sharing(among, corpus, sparse, most)))

        def by_meaning(among: Filter, most: int) -> dict[UUID, float]:
            return _found(self.shard.query(requests.near(among, dense, most))) if most else {}

        cosine, lexical = by_meaning(where, limit), by_words(where, limit)
        # What is among the best by one may be anywhere by the other.
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
            msg = f"A vector of {self.spec.name!r} must be {dims} finite numbers; this one is {vector.shape}."
            raise ValueError(msg)


def _found(points: Sequence[edge.ScoredPoint]) -> dict[UUID, float]:
    return {cast("UUID", point.id): point.score for point in points}


def _batches(things: Sequence[T]) -> Iterator[list[T]]:
    remaining = iter(things)
    while batch := list(islice(remaining, BATCH)):
        yield batch
