"""The vector engine under session memory: points without a vector yet, hidden versions, both rankings."""

import numpy as np
import pytest

from cognition.memory.engine import Filter, Point, SparseVector, VectorCollection
from tests.unit.memory.test_engine import DIMS, id_of, point, things

__all__ = ["things"]

ADA = Filter("ada")
NO_TERMS = SparseVector((), ())


def bare(number: int, user: str = "ada", terms: tuple[int, ...] = (1,), **payload: int) -> Point:
    """A point that is found by its words only."""
    whole = point(number, user, terms=terms, **payload)
    return Point(whole.id, None, whole.sparse, whole.payload)


async def found(things: VectorCollection, where: Filter, dense: np.ndarray, terms: SparseVector) -> list[str]:
    return [match.id for match in await things.hybrid(where, ADA, dense, terms, 10)]


async def test_a_point_without_a_vector_is_found_by_its_words_until_it_has_one(
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


async def test_p47_another_users_points_get_no_vector_and_show_none(things: VectorCollection) -> None:
    await things.upsert([bare(0), point(1)])
    vector = np.ones(DIMS, dtype=np.float32) / np.sqrt(DIMS, dtype=np.float32)
    await things.add_vectors("bob", {id_of(0): vector})
    assert await things.vectors("ada", [id_of(0)]) == {}
    assert await things.vectors("bob", [id_of(1)]) == {}


@pytest.mark.parametrize("vector", [np.ones(DIMS + 1), np.full(DIMS, np.nan)])
async def test_a_vector_that_is_none_is_refused_later_too(
    vector: np.ndarray, things: VectorCollection
) -> None:
    await things.upsert([bare(0)])
    with pytest.raises(ValueError, match=f"must be {DIMS} finite numbers"):
        await things.add_vectors("ada", {id_of(0): vector.astype(np.float32)})


async def test_hidden_and_later_versions_are_passed_over(things: VectorCollection) -> None:
    await things.upsert([point(n, terms=(1,), level=n) for n in range(5)])
    where = Filter("ada", without={"level": [0, 2]}, between={"level": (None, 3)})
    vector = point(9).dense
    assert vector is not None
    assert set(await found(things, where, vector, SparseVector((1,), (1.0,)))) == {id_of(1), id_of(3)}
    assert await things.count(where) == 2
    assert await things.count(Filter("ada", without={"level": []})) == 5


async def test_a_hybrid_score_is_the_sum_over_both_rankings(things: VectorCollection) -> None:
    stored = [point(n, terms=tuple(range(n + 1))) for n in range(4)]
    await things.upsert(stored)
    query = stored[0].dense
    assert query is not None
    by_meaning = [hit.id for hit in await things.nearest(ADA, query, 10)]
    by_words = [id_of(3), id_of(2), id_of(1)]  # rarer terms first, and the number of them
    matches = await things.hybrid(ADA, ADA, query, SparseVector((1, 2, 3), (1.0, 1.0, 1.0)), 10)
    for match in matches:
        ranks = [ranking.index(match.id) for ranking in (by_meaning, by_words) if match.id in ranking]
        assert match.score == pytest.approx(sum(1 / (2 + rank) for rank in ranks))
    assert len(matches) == 4
