"""Ranking of a session's chunks by embedding similarity, words and character n-grams."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from cognition.embedding.embedder import Calibration
from cognition.memory.session.chunk import SourceChunk
from cognition.memory.session.ngrams import ngram_scores
from cognition.vectors import Scores
from cognition.vectors.scores import normalize_by_max

MEANING: Final = 0.65
"""Weight of the similarity; words and n-grams share the rest (`bench/session_recall.py` prints the curve)."""


@dataclass(frozen=True)
class ScoredChunk:
    """A chunk that matches a query.

    Attributes:
        id: The id of its point.
        similarity: The calibrated cosine, from 0 to 1.
        words: Its BM25 score divided by the best one.
    """

    id: str
    similarity: float
    words: float

    def score(self, lexical: float) -> float:
        """Return the score from 0 to 1, given a lexical score from 0 to 1."""
        return MEANING * self.similarity + (1 - MEANING) * lexical


def top_candidates(scores: Scores, calibration: Calibration, limit: int) -> list[ScoredChunk]:
    """Return the chunks with the best combined similarity and BM25 score, best first.

    Args:
        scores: The scores of the candidates.
        calibration: The calibration of the embedding model.
        limit: Maximum number of chunks.
    """
    similarity = calibration.similarity(scores.cosine, "question")
    words = normalize_by_max(scores.lexical)
    order = np.argsort(-(MEANING * similarity + (1 - MEANING) * words), kind="stable")[:limit].tolist()
    return [ScoredChunk(str(scores.ids[i]), float(similarity[i]), float(words[i])) for i in order]


def rerank(query: str, hits: Sequence[tuple[SourceChunk, ScoredChunk]]) -> list[tuple[SourceChunk, float]]:
    """Add n-gram scores, which require the text of the chunks, and return the chunks best first.

    Args:
        query: The search query.
        hits: The best chunks with their scores.
    """
    ngrams = ngram_scores(query, [chunk.text for chunk, _ in hits]).tolist()
    scored = [
        (chunk, scores.score((scores.words + ngram) / 2))
        for (chunk, scores), ngram in zip(hits, ngrams, strict=True)
    ]
    return sorted(scored, key=lambda hit: -hit[1])
