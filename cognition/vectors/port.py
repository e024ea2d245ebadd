"""What the stores need of a vector engine, whichever it is: in this process or on a server."""

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
TENANT = "user_id"  # the payload field that every point has and every filter names


class StampMismatch(Unavailable):
    """The vectors that are stored are of another embedding model; the message names both and the way out."""


class CorruptStore(Unavailable):
    """What is stored can't be read; the message says where it is and what can be done."""


@dataclass(frozen=True)
class CollectionSpec:
    """What a collection holds. A field that is filtered, ordered or counted by must be named here.

    Attributes:
        name: The collection's name.
        stamp: The embedding model of its dense vectors.
        keywords: Indexed payload fields with a text or a list of texts; `user_id` is one always.
        integers: Indexed payload fields with a whole number.
        floats: Indexed payload fields with any number, such as a time.
        large: Whether it may outgrow memory: then its vectors are read from the disk.
    """

    name: str
    stamp: Stamp
    keywords: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()
    large: bool = False


@dataclass(frozen=True)
class SparseVector:
    """Weights of the terms of a text, by the terms' numbers; the engine multiplies them by the IDF."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """One thing stored.

    Attributes:
        id: A UUID.
        dense: The embedding, of the dimensions of the collection's stamp and of length 1; None where there is
            none yet: such a point is found by its words only.
        sparse: The lexical vector.
        payload: What JSON can hold, with a `user_id` that is not blank.
    """

    id: str
    dense: Vector | None
    sparse: SparseVector
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Filter:
    """Which points of one user a call is about. There is no filter without a user.

    Attributes:
        user_id: Whose points.
        equals: Field → the value that it has, or that is in its list.
        without: Field → values that it must not have.
        between: Field → lowest and highest value, both included; None leaves a side open.
        ids: Only these points; None for any.

    Raises:
        InvalidInput: The user is blank, or no text that can be stored.
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
    """A point that a query found, with the raw cosine of its dense vector to the query's."""

    id: str
    cosine: float


@dataclass(frozen=True)
class Scores:
    """Both scores of points, in no order.

    Attributes:
        ids: The points; as UUIDs, because writing thousands of them as text takes longer than scoring them.
        cosine: The raw cosines of their dense vectors to the query's; -1 for a point that has none yet.
        lexical: Their BM25 scores with the IDF over the corpus; 0 where no term is shared.
    """

    ids: Sequence[UUID]
    cosine: Vector
    lexical: Vector


class VectorCollection(Protocol):
    """One collection of an engine. Safe from any thread and any event loop."""

    spec: CollectionSpec

    async def upsert(self, points: Sequence[Point]) -> None:
        """Store points, replacing those of the same id; when it returns they outlive a crash.

        Raises:
            ValueError: A vector has other dimensions or a value that is no number, or a payload no user.
        """

    async def add_vectors(self, user_id: str, vectors: Mapping[str, Vector]) -> None:
        """Give stored points their embeddings, by id; those of other users stay as they are.

        Raises:
            ValueError: A vector has other dimensions or a value that is no number.
        """

    async def delete(self, where: Filter) -> int:
        """Remove the points that match, and return how many there were."""

    async def set_payload(self, where: Filter, payload: Mapping[str, Any]) -> None:
        """Set these payload fields on the points that match, and leave their other fields."""

    async def retrieve(self, user_id: str, ids: Sequence[str]) -> list[Record]:
        """The user's points of these ids, in that order, without those that are not there."""

    async def vectors(self, user_id: str, ids: Sequence[str]) -> dict[str, Vector]:
        """The embeddings of the user's points of these ids, of those that have one."""

    async def best(
        self, where: Filter, corpus: Filter, dense: Vector, sparse: SparseVector, limit: int
    ) -> Scores:
        """Both scores of the points that are among the best by meaning or by words; exact.

        Args:
            where: The points.
            corpus: The points over which a term is rare or common.
            dense: The query's embedding.
            sparse: The query's terms.
            limit: How many by each.
        """

    async def scores(self, where: Filter, dense: Vector, sparse: SparseVector) -> Scores:
        """Score every point that matches, by meaning and by words over all of the user's points; exact."""

    async def nearest(self, where: Filter, dense: Vector, limit: int) -> list[Hit]:
        """The points nearest by cosine, best first; exact."""

    async def scroll(self, where: Filter, limit: int, *, order_by: str = "", offset: int = 0) -> list[Record]:
        """Points by a number, largest first, or by their ids."""

    async def values(self, where: Filter, field: str) -> set[str]:
        """Which values a keyword field has; faster than counting them."""

    async def facet(self, where: Filter, field: str) -> dict[str, int]:
        """How many points have each value of a keyword field, most frequent first; exact."""

    async def count(self, where: Filter) -> int:
        """How many points match; exact."""

    async def flush(self) -> None:
        """Write all to its place, so that the next start has nothing to replay; takes up to seconds."""


class VectorEngine(Protocol):
    """Where the collections live."""

    async def collection(self, spec: CollectionSpec) -> VectorCollection:
        """Open a collection, making it when it is not there.

        Raises:
            StampMismatch: It was filled by another embedding model. Nothing is changed.
            CorruptStore: It can't be read.
        """

    async def aclose(self) -> None:
        """Write everything to disk and let go of it; safe to call again."""
