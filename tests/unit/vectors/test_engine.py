"""Tests of the vector engine through its interface, with the points of several users."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import pytest

from cognition.embedding import Stamp
from cognition.vectors import CollectionSpec, Filter, Point, SparseVector, VectorCollection, open_engine
from cognition.vectors.embedded.engine import EmbeddedCollection

DIMS = 8
SPEC = CollectionSpec("things", Stamp("test", "1", DIMS), ("kind", "tags"), ("level",), ("at",))
RNG = np.random.default_rng(5)


@pytest.fixture
async def things(tmp_path: Path) -> AsyncIterator[VectorCollection]:
    engine = await asyncio.to_thread(open_engine, tmp_path)
    yield await engine.collection(SPEC)
    await engine.aclose()


def id_of(number: int, user: str = "ada") -> str:
    return str(uuid5(UUID(int=0), f"{user}/{number}"))


def point(number: int, user: str = "ada", *, terms: tuple[int, ...] = (), **payload: Any) -> Point:
    vector = RNG.normal(size=DIMS)
    dense = (vector / np.linalg.norm(vector)).astype(np.float32)
    sparse = SparseVector(terms, (1.5,) * len(terms))
    return Point(
        id_of(number, str(user).encode("ascii", "replace").decode()),
        dense,
        sparse,
        {"user_id": user, "number": number, **payload},
    )


async def numbers(things: VectorCollection, where: Filter) -> list[int]:
    return sorted(record.payload["number"] for record in await things.scroll(where, 100))


async def test_a_filter_applies_all_its_conditions(things: VectorCollection) -> None:
    await things.upsert(
        [
            point(0, kind="a", tags=["x", "y"], level=1, at=10.0),
            point(1, kind="a", tags=["y"], level=2, at=20.5),
            point(2, kind="b", tags=[], level=3, at=30.0),
            point(3, "bob", kind="a", tags=["x"], level=1, at=10.0),
        ]
    )
    wanted: list[tuple[Filter, list[int]]] = [
        (Filter("ada"), [0, 1, 2]),
        (Filter("ada", equals={"kind": "a"}), [0, 1]),
        (Filter("ada", equals={"tags": "y", "level": 2}), [1]),
        (Filter("ada", between={"at": (10.0, 20.5)}), [0, 1]),
        (Filter("ada", between={"at": (None, 20.4)}), [0]),
        (Filter("ada", between={"level": (2, None)}), [1, 2]),
        (Filter("ada", ids=[id_of(1), id_of(3, "bob")]), [1]),
        (Filter("ada", ids=[]), []),
        (Filter("ada", equals={"kind": "A"}), []),
        (Filter("nobody"), []),
    ]
    for where, expected in wanted:
        assert await numbers(things, where) == expected, where
        assert await things.count(where) == len(expected)
        assert len((await things.scores(where, point(9).dense, SparseVector((1,), (1.0,)))).ids) == len(
            expected
        )
        assert len(await things.nearest(where, point(9).dense, 10)) == len(expected)


async def test_p46_points_are_ordered_by_a_number_in_descending_order(things: VectorCollection) -> None:
    await things.upsert([point(n, at=float(n * 7 % 10)) for n in range(10)])
    by_time = [record.payload["at"] for record in await things.scroll(Filter("ada"), 4, order_by="at")]
    assert by_time == [9.0, 8.0, 7.0, 6.0]
    rest = await things.scroll(Filter("ada"), 4, order_by="at", offset=4)
    assert [record.payload["at"] for record in rest] == [5.0, 4.0, 3.0, 2.0]


async def test_values_are_counted_within_the_filter(things: VectorCollection) -> None:
    await things.upsert([point(n, tags=["all", "even"] if n % 2 == 0 else ["all"]) for n in range(5)])
    await things.upsert([point(9, "bob", tags=["his"])])
    assert await things.facet(Filter("ada"), "tags") == {"all": 5, "even": 3}
    assert await things.values(Filter("ada"), "tags") == {"all", "even"}
    await things.upsert([point(n, tags=["all"]) for n in range(5)])
    await things.delete(Filter("ada", ids=[id_of(1)]))
    assert await things.facet(Filter("ada"), "tags") == {"all": 4}
    assert await things.values(Filter("ada"), "tags") == {"all"}
    assert await things.values(Filter("nobody"), "tags") == set()


async def test_scores_equal_brute_force_over_the_users_own_points(things: VectorCollection) -> None:
    stored_terms = [(1, 2), (2,), (2, 3), (4,), ()]
    mine = [point(n, terms=terms) for n, terms in enumerate(stored_terms)]
    # All points of another user have term 1, which must not make it a common term for Ada.
    await things.upsert([*mine, *(point(n, "bob", terms=(1,)) for n in range(50))])
    query_terms, query = (1, 2, 7), point(0).dense
    scores = await things.scores(Filter("ada"), query, SparseVector(query_terms, (1.0,) * len(query_terms)))
    found = {str(id_): (c, w) for id_, c, w in zip(scores.ids, scores.cosine, scores.lexical, strict=True)}
    assert found.keys() == {p.id for p in mine}
    for number, terms in enumerate(stored_terms):
        idf = [
            np.log(1 + (5 - df + 0.5) / (df + 0.5))
            for t in set(terms) & set(query_terms)
            for df in [_document_count(t, stored_terms)]
        ]
        cosine, lexical = found[id_of(number)]
        assert cosine == pytest.approx(float(mine[number].dense @ query), abs=1e-5)
        assert lexical == pytest.approx(1.5 * sum(idf), rel=1e-4)


def _document_count(term: int, stored_terms: list[tuple[int, ...]]) -> int:
    return sum(term in terms for terms in stored_terms)


async def test_nearest_is_ordered_by_cosine_and_exact(things: VectorCollection) -> None:
    stored = [point(n) for n in range(300)]
    await things.upsert(stored)
    query = point(0).dense
    best = sorted(stored, key=lambda p: -float(p.dense @ query))[:7]
    hits = await things.nearest(Filter("ada"), query, 7)
    assert [hit.id for hit in hits] == [p.id for p in best]
    assert await things.nearest(Filter("ada"), query, 0) == []


async def test_a_change_touches_only_what_matches(things: VectorCollection) -> None:
    await things.upsert([point(0, kind="a"), point(1, kind="b"), point(0, "bob", kind="a")])
    await things.set_payload(Filter("ada", equals={"kind": "a"}), {"level": 4})
    assert await numbers(things, Filter("ada", equals={"level": 4})) == [0]
    assert await things.delete(Filter("ada", equals={"kind": "a"})) == 1
    assert await things.delete(Filter("ada", equals={"kind": "a"})) == 0
    assert await numbers(things, Filter("ada")) == [1]
    assert await numbers(things, Filter("bob")) == [0]


async def test_a_point_of_the_same_id_is_replaced(things: VectorCollection) -> None:
    await things.upsert([point(0, kind="a", level=1)])
    await things.upsert([point(0, kind="b")])
    assert [r.payload for r in await things.retrieve("ada", [id_of(0)])] == [
        {"user_id": "ada", "number": 0, "kind": "b"}
    ]


async def test_points_are_returned_in_the_requested_order(things: VectorCollection) -> None:
    await things.upsert([point(n) for n in range(4)])
    requested = [id_of(2), id_of(99), id_of(0), id_of(3)]
    assert [r.payload["number"] for r in await things.retrieve("ada", requested)] == [2, 0, 3]
    assert await things.retrieve("ada", []) == []


async def test_p47_another_users_points_are_inaccessible_by_id(things: VectorCollection) -> None:
    await things.upsert([point(0)])
    assert await things.retrieve("bob", [id_of(0)]) == []
    assert await things.delete(Filter("bob", ids=[id_of(0)])) == 0
    await things.set_payload(Filter("bob", ids=[id_of(0)]), {"kind": "stolen"})
    assert (await things.retrieve("ada", [id_of(0)]))[0].payload == {"user_id": "ada", "number": 0}


@pytest.mark.parametrize("user", ["", " \n", None, 7, "half a \ud800 character"])
async def test_p47_without_a_user_there_is_no_filter_and_no_point(
    user: Any, things: VectorCollection
) -> None:
    with pytest.raises(ValueError, match="Invalid user"):
        Filter(user)
    with pytest.raises(ValueError, match="Invalid user"):
        await things.retrieve(user, [id_of(0)])
    with pytest.raises(ValueError, match="Invalid user"):
        await things.upsert([point(0), point(1, user)])
    assert await things.count(Filter("ada")) == 0


async def test_a_vector_with_wrong_dimensions_is_rejected(things: VectorCollection) -> None:
    longer = Point(id_of(0), np.ones(DIMS + 1, dtype=np.float32), SparseVector((), ()), {"user_id": "ada"})
    with pytest.raises(ValueError, match=f"expected {DIMS} finite numbers"):
        await things.upsert([longer])


async def test_concurrent_writers_and_readers_lose_nothing(things: VectorCollection) -> None:
    async def write(start: int) -> None:
        for number in range(start, start + 40):
            await things.upsert([point(number)])

    async def read() -> None:
        for _ in range(40):
            scores = await things.scores(Filter("ada"), point(0).dense, SparseVector((1,), (1.0,)))
            assert len(scores.ids) == len(scores.cosine) == len(scores.lexical)

    await asyncio.gather(*(write(start) for start in range(0, 320, 40)), read(), read())
    assert await things.count(Filter("ada")) == 320


async def test_more_than_a_batch_is_stored_whole(things: VectorCollection) -> None:
    await things.upsert([point(n) for n in range(600)])
    assert await things.count(Filter("ada")) == 600


async def test_closing_waits_for_the_thread_of_a_cancelled_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await asyncio.to_thread(open_engine, tmp_path)
    collection = await engine.collection(SPEC)
    assert isinstance(collection, EmbeddedCollection)
    begun, gate = Event(), Event()
    counted: list[int] = []
    count = collection._count

    def gated(where: Filter) -> int:
        begun.set()
        gate.wait()
        counted.append(count(where))
        return counted[-1]

    monkeypatch.setattr(collection, "_count", gated)
    search = asyncio.create_task(collection.count(Filter("ada")))
    await asyncio.to_thread(begun.wait)
    search.cancel()
    closing = asyncio.create_task(engine.aclose())
    early, _ = await asyncio.wait({closing}, timeout=0.2)
    gate.set()
    await closing
    assert not early
    assert counted == [0]
