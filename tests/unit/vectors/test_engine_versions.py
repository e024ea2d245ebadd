"""Tests of the engine features for session memory: points without a vector, hidden versions, both scores."""

import numpy as np
import pytest

from cognition.vectors import Filter, Point, SparseVector, VectorCollection
from tests.unit.vectors.test_engine import DIMS, id_of, point, things

__all__ = ["things"]

ADA = Filter("ada")
NO_TERMS = SparseVector((), ())


def bare(number: int, user: str = "ada", terms: tuple[int, ...] = (1,), **payload: int) -> Point:
    """Return a point without a vector."""
    whole = point(number, user, terms=terms, **payload)
    return Point(whole.id, None, whole.sparse, whole.payload)


async def found(things: VectorCollection, where: Filter, dense: np.ndarray, terms: SparseVector) -> list[str]:
    return [str(id_) for id_ in (await things.best(where, ADA, dense, terms, 10)).ids]


async def test_a_point_without_a_vector_is_found_by_words_only(
    things: VectorCollection,
) -> None:
    await things.upsert([bare(0), bare(1, terms=(2,))])
    vector = point(9).dense
    assert vector is not None
    assert await found(things, ADA, vector, NO_TERMS) == []
    assert await found(things, ADA, vector, SparseVector((1,), (1.0,))) == [id_of(0)]
    await things.add_vectors("ada", {id_of(1): vector})
    assert await found(things, ADA, vector, NO_TERMS) == [id_of(1)]
    assert (await things.retrieve("ada", [id_of(1)]))[0].payload["number"] == 1
    stored = await things.vectors("ada", [id_of(0), id_of(1)])
    assert list(stored) == [id_of(1)]
    np.testing.assert_allclose(stored[id_of(1)], vector, atol=1e-6)


async def test_p47_vectors_of_another_users_points_are_inaccessible(things: VectorCollection) -> None:
    await things.upsert([bare(0), point(1)])
    vector = np.ones(DIMS, dtype=np.float32) / np.sqrt(DIMS, dtype=np.float32)
    await things.add_vectors("bob", {id_of(0): vector})
    assert await things.vectors("ada", [id_of(0)]) == {}
    assert await things.vectors("bob", [id_of(1)]) == {}


@pytest.mark.parametrize("vector", [np.ones(DIMS + 1), np.full(DIMS, np.nan)])
async def test_adding_an_invalid_vector_is_rejected(vector: np.ndarray, things: VectorCollection) -> None:
    await things.upsert([bare(0)])
    with pytest.raises(ValueError, match=f"expected {DIMS} finite numbers"):
        await things.add_vectors("ada", {id_of(0): vector.astype(np.float32)})


async def test_hidden_and_later_versions_are_excluded(things: VectorCollection) -> None:
    await things.upsert([point(n, terms=(1,), level=n) for n in range(5)])
    where = Filter("ada", without={"level": [0, 2]}, between={"level": (None, 3)})
    vector = point(9).dense
    assert vector is not None
    assert set(await found(things, where, vector, SparseVector((1,), (1.0,)))) == {id_of(1), id_of(3)}
    assert await things.count(where) == 2
    assert await things.count(Filter("ada", without={"level": []})) == 5


async def test_the_best_by_meaning_and_by_words_have_both_scores(things: VectorCollection) -> None:
    """The scores equal those over all points, even for a point that ranks last by one of them."""
    await things.upsert([point(n, terms=(1, 2) if n % 7 == 0 else (n + 10,)) for n in range(60)])
    query = point(9).dense
    assert query is not None
    terms = SparseVector((1, 2), (1.0, 1.0))
    everything = await things.scores(ADA, query, terms)
    all_of = zip(everything.ids, everything.cosine, everything.lexical, strict=True)
    expected = {str(id_): (float(cosine), float(lexical)) for id_, cosine, lexical in all_of}
    best = await things.best(ADA, ADA, query, terms, 5)
    found = {
        str(id_): (float(cosine), float(lexical))
        for id_, cosine, lexical in zip(best.ids, best.cosine, best.lexical, strict=True)
    }
    assert found == {id_: pytest.approx(expected[id_], abs=1e-5) for id_ in found}
    nearest = {hit.id for hit in await things.nearest(ADA, query, 5)}
    assert nearest <= set(found)
    assert len([id_ for id_, (_, lexical) in found.items() if lexical > 0]) >= 5
    assert len(found) <= 10
