"""The interface that the stores require of a vector engine, in this process or on a server."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from cognition.embedding import Stamp
from cognition.errors import Unavailable
from cognition.identity import check_user

Vector = NDArray[np.float32]
Bound = int | float | None
TENANT = "user_id"
"""The payload field that separates the users: every point has it, and every filter requires it."""


class StampMismatch(Unavailable):
    """Stored vectors of another embedding model. The message names both models and how to proceed."""


class CorruptStore(Unavailable):
    """Stored data that can't be read. The message names the folder and how to proceed."""


@dataclass(frozen=True)
class CollectionSpec:
    """The schema of a collection. Every field used in a filter, an order or a facet must be listed.

    Attributes:
        name: The collection's name.
        stamp: The embedding model of its dense vectors.
        keywords: Indexed payload fields with a string or a list of strings; `user_id` is always indexed.
        integers: Indexed payload fields with an integer.
        floats: Indexed payload fields with any number, such as a timestamp.
        large: True to read the vectors from disk, for a collection that may not fit into memory.
    """

    name: str
    stamp: Stamp
    keywords: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()
    large: bool = False


@dataclass(frozen=True)
class SparseVector:
    """The term weights of a text, by term number; the engine multiplies them by the IDF."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """A point to store.

    Attributes:
        id: A UUID.
        dense: The embedding, a unit vector with the dimensions of the collection's stamp; None if it has not
            been computed yet, in which case only lexical search finds the point.
        sparse: The lexical vector.
        payload: JSON values, including a `user_id` that is not blank.
    """

    id: str
    dense: Vector | None
    sparse: SparseVector
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Filter:
    """A filter on the points of one user. There is no filter without a user.

    Attributes:
        user_id: The user.
        equals: Field → the value it must have, or contain if it is a list.
        without: Field → values it must not have.
        between: Field → lowest and highest value, both included; None leaves a side open.
        ids: Limit to these points; None for all.

    Raises:
        InvalidInput: If the user is blank, not a string, or not valid Unicode.
    """

    user_id: str
    equals: Mapping[str, str | int] = field(default_factory=dict)
    without: Mapping[str, Collection[int]] = field(default_factory=dict)
    between: Mapping[str, tuple[Bound, Bound]] = field(default_factory=dict)
    ids: Collection[str] | None = None

    def __post_init__(self) -> None:
        check_user(self.user_id)


@dataclass(frozen=True)
class Record:
    """A stored point, without its vectors."""

    id: str
    payload: dict[str, Any]


@dataclass(frozen=True)
class Hit:
    """A search hit, with the raw cosine of its dense vector to the query's."""

    id: str
    cosine: float


@dataclass(frozen=True)
class Scores:
    """The dense and lexical scores of points, in no particular order.

    Attributes:
        ids: The ids of the points, as UUIDs because converting thousands to text takes longer than scoring.
        cosine: The raw cosines of their dense vectors to the query's; -1 for points without a vector.
        lexical: Their BM25 scores, with the IDF over the corpus; 0 for points that share no term.
    """

    ids: Sequence[UUID]
    cosine: Vector
    lexical: Vector


class VectorCollection(Protocol):
    """A collection of an engine. Safe to use from any thread and any event loop."""

    spec: CollectionSpec

    async def upsert(self, points: Sequence[Point]) -> None:
        """Store points, replacing those with the same id. Once this returns, they survive a crash.

        Raises:
            ValueError: If a vector has the wrong dimensions or non-finite values, or a payload has no user.
        """

    async def add_vectors(self, user_id: str, vectors: Mapping[str, Vector]) -> None:
        """Set the embeddings of stored points, by id. Points of other users stay unchanged.

        Raises:
            ValueError: If a vector has the wrong dimensions or non-finite values.
        """

    async def delete(self, where: Filter) -> int:
        """Delete the matching points and return their number."""

    async def set_payload(self, where: Filter, payload: Mapping[str, Any]) -> None:
        """Set these payload fields on the matching points; other fields stay unchanged."""

    async def retrieve(self, user_id: str, ids: Sequence[str]) -> list[Record]:
        """Return the user's points with these ids, in this order; unknown ids are skipped."""

    async def vectors(self, user_id: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the embeddings of the user's points with these ids; points without one are skipped."""

    async def best(
        self, where: Filter, corpus: Filter, dense: Vector, sparse: SparseVector, limit: int
    ) -> Scores:
        """Return both scores of the points that rank best by either score. Exact.

        Args:
            where: The points to search.
            corpus: The points over which the IDF is computed.
            dense: The query's embedding.
            sparse: The query's terms.
            limit: Maximum number of points per score.
        """

    async def scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        """Return both scores of every matching point, with the IDF over all of the user's points. Exact."""

    async def nearest(self, where: Filter, dense: Vector, limit: int) -> list[Hit]:
        """Return the points nearest by cosine, best first. Exact."""

    async def scroll(self, where: Filter, limit: int, *, order_by: str = "", offset: int = 0) -> list[Record]:
        """Return a page of points, ordered by a numeric field in descending order, or by id."""

    async def values(self, where: Filter, field: str) -> set[str]:
        """Return the distinct values of a keyword field; faster than `facet`."""

    async def facet(self, where: Filter, field: str) -> dict[str, int]:
        """Return the number of points per value of a keyword field, most frequent first. Exact."""

    async def count(self, where: Filter) -> int:
        """Return the number of matching points. Exact."""

    async def flush(self) -> None:
        """Flush the write-ahead log, so that the next start has nothing to replay. May take seconds."""


class VectorEngine(Protocol):
    """An engine that holds collections."""

    async def collection(self, spec: CollectionSpec) -> VectorCollection:
        """Open a collection, creating it if it does not exist.

        Raises:
            StampMismatch: If its vectors were created with another embedding model. Nothing is changed.
            CorruptStore: If it can't be read.
        """

    async def aclose(self) -> None:
        """Write everything to disk and release the home folder; safe to call again."""
