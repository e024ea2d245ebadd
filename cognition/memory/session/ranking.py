"""How close the chunks of a session are to a question: by their meaning, their words and their letters."""

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
"""What similarity counts; words and letters share the rest (`bench/session_recall.py` prints the curve)."""


@dataclass(frozen=True)
class ScoredChunk:
    """A chunk that is close to a question.

    Attributes:
        id: Its point.
        similarity: The calibrated cosine, 0–1.
        words: Its BM25 score, as a part of the best one's.
    """

    id: str
    similarity: float
    words: float

    def score(self, lexical: float) -> float:
        """What it counts, 0–1, with what its words and letters count, 0–1."""
        return MEANING * self.similarity + (1 - MEANING) * lexical


def top_candidates(scores: Scores, calibration: Calibration, limit: int) -> list[ScoredChunk]:
    """The chunks that are closest by meaning and words, best first.

    Args:
        scores: Of all that may be.
        calibration: Of the model of their vectors.
        limit: How many at most.
    """
    similarity = calibration.similarity(scores.cosine, "question")
    words = normalize_by_max(scores.lexical)
    order = np.argsort(-(MEANING * similarity + (1 - MEANING) * words), kind="stable")[:limit].tolist()
    return [ScoredChunk(str(scores.ids[i]), float(similarity[i]), float(words[i])) for i in order]


def rerank(
    question: str, found: Sequence[tuple[SourceChunk, ScoredChunk]]
) -> list[tuple[SourceChunk, float]]:
    """What was found with its score, best first, now that its letters can be looked at.

    Args:
        question: What was looked for.
        found: The closest chunks.
    """
    letters = ngram_scores(question, [fragment.text for fragment, _ in found]).tolist()
    scored = [
        (fragment, close.score((close.words + like) / 2))
        for (fragment, close), like in zip(found, letters, strict=True)
    ]
    return sorted(scored, key=lambda one: -one[1])
