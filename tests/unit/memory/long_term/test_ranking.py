"""Tests of the ranking of a search against brute force, on the real engine."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cognition.embedding import Anchors, Calibration, Embedder, Stamp, TextRole
from cognition.embedding.embedder import Vectors
from cognition.memory.long_term.memory import collection_spec
from cognition.memory.long_term.ranking import answers, relevances
from cognition.memory.long_term.recall import Recall, filter_of
from cognition.memory.long_term.writer import memory_point
from cognition.settings import Settings
from cognition.vectors import open_engine
from tests.unit.memory.conftest import stored

WEIGHTS = Settings.model_fields["importance_weights"].default
DIMS = 3
QUERY = np.array([1.0, 0.0, 0.0], dtype=np.float32)


class Fixed(Embedder):
    """An embedder with all queries on the first axis: a memory's first coordinate is its cosine."""

    stamp = Stamp("fixed", "1", DIMS)
    calibration = Calibration(Anchors(0.2, 0.9), Anchors(0.2, 0.9))  # the similarity is the cosine
    chunk_tokens = max_tokens = 512

    def _count(self, text: str) -> int:
        return len(text.split())

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        return np.tile(QUERY, (len(texts), 1))


def at(cosine: float) -> Vectors:
    """Return a vector with this cosine to every query."""
    return np.array([cosine, np.sqrt(1 - cosine**2), 0.0], dtype=np.float32)


async def search(scored: Sequence[tuple[float, int]], question: str, limit: int, home: Path) -> list[str]:
    """Search memories with these cosines and importances, and return the ids of the results."""
    engine = await asyncio.to_thread(open_engine, home)
    collection = await engine.collection(collection_spec(Fixed.stamp))
    await collection.upsert(
        [
            memory_point(stored(f"Note {n}.", memory_id=f"m{n:03}", memory_importance=level), at(cosine))
            for n, (cosine, level) in enumerate(scored)
        ]
    )
    results = await Recall(collection, Fixed(), WEIGHTS).search(filter_of("ada"), question, limit)
    await engine.aclose()
    return [recalled.memory.memory_id for recalled in results]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 5)), max_size=60), st.integers(1, 12))
def test_a_search_returns_the_best_of_all_memories(scored: list[tuple[int, int]], limit: int) -> None:
    cosines = np.array([percent / 100 for percent, _ in scored], dtype=np.float32)
    nothing = np.zeros(len(scored), dtype=np.float32)
    worth = relevances(cosines, nothing) * [WEIGHTS[level - 1] for _, level in scored]
    shown = np.flatnonzero(answers(cosines, nothing, 1))
    best = sorted(shown.tolist(), key=lambda n: (-round(float(worth[n]), 4), n))[:limit]
    with TemporaryDirectory() as home:
        pairs = [(percent / 100, level) for percent, level in scored]
        found = asyncio.run(search(pairs, "unstored", limit, Path(home)))
    # Equal cosines may differ in the last digit, so the scores are compared instead of the ids.
    assert np.allclose([worth[int(id_[1:])] for id_ in found], [worth[n] for n in best], atol=1e-3)


async def test_an_axiom_beyond_three_times_the_limit_is_found(tmp_path: Path) -> None:
    limit = 5
    trivia = [(0.80 + n / 1000, 1) for n in range(limit * 3 + 20)]
    found = await search([*trivia, (0.78, 5)], "unstored", limit, tmp_path)
    assert found[0] == f"m{len(trivia):03}"


async def test_p45_both_importance_and_similarity_count(tmp_path: Path) -> None:
    found = await search([(0.95, 1), (0.50, 5), (0.90, 3), (0.88, 5)], "unstored", 4, tmp_path)
    assert found == ["m003", "m002", "m000", "m001"]


async def test_below_the_floor_a_memory_needs_matching_words(tmp_path: Path) -> None:
    scored = [(0.34, 5)] * 8 + [(0.36, 1)]
    assert await search(scored, "unstored", 20, tmp_path / "meaning") == ["m008"]
    assert await search(scored, "note 3", 20, tmp_path / "words") == ["m003", "m008"]


def test_importance_5_at_relevance_060_outranks_importance_1_at_085() -> None:
    assert 0.60 * WEIGHTS[4] > 0.85 * WEIGHTS[0]
