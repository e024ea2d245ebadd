"""How memories are ranked: `relevance × weight of the importance`, and which are worth showing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cognition.embedding import Calibration
from cognition.vectors import Scores
from cognition.vectors.scores import normalize_by_max

SIMILARITY_FLOOR: Final = 0.35
"""Below this calibrated similarity a memory is shown only for its words."""

STRONG_SHARE: Final = 0.4
"""From this share of the best that BM25 could give, a memory is shown for its words alone."""

TERM_WEIGHT: Final = 1.9
"""What BM25 gives a term of a short text beside its rarity (k = 1.2, b = 0.75)."""

DENSE_SHARE: Final = 0.75
"""The dense part of the fused score; the rest is lexical (`bench/recall.py` prints the curve)."""

SHARPNESS: Final = 3.0
"""The power that the fused score is raised to, so that importance can't drown relevance."""


Vector = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Candidate:
    """A memory that is worth showing.

    Attributes:
        id: Its point.
        similarity: Calibrated cosine to the question, 0–1.
        relevance: The fused and sharpened score, 0–1.
    """

    id: str
    similarity: float
    relevance: float


def candidates(
    scores: Scores, calibration: Calibration, terms: int, *, floor: bool = True
) -> list[Candidate]:
    """The memories worth showing, with their relevance.

    Args:
        scores: Of all of the user's memories.
        calibration: Of the embedding model.
        terms: How many terms the question has.
        floor: Whether those that don't answer it are left out.
    """
    similarity = calibration.similarity(scores.cosine, "question")
    relevance = relevances(similarity, scores.lexical)
    shown = answers(similarity, scores.lexical, terms) if floor else np.ones(len(scores.ids), dtype=bool)
    return [
        Candidate(str(scores.ids[i]), float(similarity[i]), float(relevance[i]))
        for i in np.flatnonzero(shown).tolist()
    ]


def answers(similarity: Vector, lexical: Vector, terms: int) -> NDArray[np.bool_]:
    """Which memories answer a question: near in meaning, or with most of its rare words.

    Args:
        similarity: Calibrated cosines of all of a user's memories.
        lexical: Their BM25 scores.
        terms: How many terms the question has.
    """
    rarest = np.log(1 + (len(lexical) - 0.5) / 1.5)  # the IDF of a term that one memory has
    best = max(terms, 1) * rarest * TERM_WEIGHT
    return np.asarray((similarity >= SIMILARITY_FLOOR) | (lexical >= STRONG_SHARE * best))


def relevances(similarity: Vector, lexical: Vector) -> NDArray[np.float64]:
    """Fused and sharpened scores, 0–1: `(d · similarity + (1 - d) · lexical / best lexical) ** sharpness`.

    Args:
        similarity: Calibrated cosines.
        lexical: BM25 scores.
    """
    words = normalize_by_max(lexical)
    return np.asarray((DENSE_SHARE * similarity + (1 - DENSE_SHARE) * words) ** SHARPNESS, dtype=np.float64)


def contenders(found: Sequence[Candidate], limit: int, weights: Sequence[float]) -> list[Candidate]:
    """Those that may be among the `limit` best whatever their importance is.

    A candidate stays if its relevance at the largest weight reaches the `limit`-th relevance at the smallest:
    ranking them gives the same as ranking all.
    """
    ordered = sorted(found, key=lambda candidate: -candidate.relevance)
    if len(ordered) <= limit:
        return ordered
    least = ordered[limit - 1].relevance * min(weights)
    return [candidate for candidate in ordered if candidate.relevance * max(weights) >= least]
