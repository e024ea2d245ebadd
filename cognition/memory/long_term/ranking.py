"""Ranking of memories by `relevance × importance weight`, and the threshold for showing them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cognition.embedding import Calibration
from cognition.vectors import Scores
from cognition.vectors.scores import normalize_by_max

SIMILARITY_FLOOR: Final = 0.35
"""Minimum calibrated similarity to show a memory, unless its words match strongly."""

STRONG_SHARE: Final = 0.4
"""Minimum share of the highest possible BM25 score to show a memory for its words alone."""

TERM_WEIGHT: Final = 1.9
"""BM25 weight of a term in a short text, without its IDF (k = 1.2, b = 0.75)."""

DENSE_SHARE: Final = 0.75
"""Share of the dense score in the fused score; the rest is lexical (`bench/recall.py` prints the curve)."""

SHARPNESS: Final = 3.0
"""Exponent of the fused score, which keeps importance from outweighing relevance."""


Vector = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Candidate:
    """A memory that may be shown.

    Attributes:
        id: The id of its point.
        similarity: The calibrated cosine to the query, from 0 to 1.
        relevance: The fused score raised to `SHARPNESS`, from 0 to 1.
    """

    id: str
    similarity: float
    relevance: float


def candidates(
    scores: Scores, calibration: Calibration, terms: int, *, floor: bool = True
) -> list[Candidate]:
    """Return the memories that may be shown, with their relevance.

    Args:
        scores: The scores of all of the user's memories.
        calibration: The calibration of the embedding model.
        terms: Number of terms in the query.
        floor: False to include memories that don't answer the query.
    """
    similarity = calibration.similarity(scores.cosine, "question")
    relevance = relevances(similarity, scores.lexical)
    shown = answers(similarity, scores.lexical, terms) if floor else np.ones(len(scores.ids), dtype=bool)
    return [
        Candidate(str(scores.ids[i]), float(similarity[i]), float(relevance[i]))
        for i in np.flatnonzero(shown).tolist()
    ]


def answers(similarity: Vector, lexical: Vector, terms: int) -> NDArray[np.bool_]:
    """Return a mask of the memories that answer a query: similar in meaning, or with most of its rare words.

    Args:
        similarity: The calibrated cosines of all of a user's memories.
        lexical: Their BM25 scores.
        terms: Number of terms in the query.
    """
    rarest = np.log(1 + (len(lexical) - 0.5) / 1.5)  # the IDF of a term in a single memory
    best = max(terms, 1) * rarest * TERM_WEIGHT
    return np.asarray((similarity >= SIMILARITY_FLOOR) | (lexical >= STRONG_SHARE * best))


def relevances(similarity: Vector, lexical: Vector) -> NDArray[np.float64]:
    """Return relevances from 0 to 1: `(d · similarity + (1 - d) · lexical / best lexical) ** sharpness`.

    Args:
        similarity: The calibrated cosines.
        lexical: The BM25 scores.
    """
    words = normalize_by_max(lexical)
    return np.asarray((DENSE_SHARE * similarity + (1 - DENSE_SHARE) * words) ** SHARPNESS, dtype=np.float64)


def contenders(hits: Sequence[Candidate], limit: int, weights: Sequence[float]) -> list[Candidate]:
    """Return the candidates that may be among the `limit` best, whatever their importance.

    A candidate is kept if its relevance at the highest weight reaches the `limit`-th relevance at the lowest.
    Ranking these gives the same result as ranking all.

    Args:
        hits: The candidates.
        limit: Maximum number of results.
        weights: The weights of the importances.
    """
    ordered = sorted(hits, key=lambda candidate: -candidate.relevance)
    if len(ordered) <= limit:
        return ordered
    least = ordered[limit - 1].relevance * min(weights)
    return [candidate for candidate in ordered if candidate.relevance * max(weights) >= least]
