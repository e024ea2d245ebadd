"""The few chunks that stand for a whole document: what it is for, its ends, and something of each section."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cognition.embedding.embedder import Vectors

QUERY: Final = "What is this document for? Its purpose, main points, results, conclusions, recommendations."
"""The question whose answers say most about a document."""

FEWEST, USUAL, MOST = 2, 10, 50
CANDIDATES: Final = 200
RELEVANCE: Final = 0.5
"""What being near the question weighs beside being unlike what is chosen already."""

HITS: Final = 5
"""One in so many excerpts is taken for its nearness to the question alone."""

SHORT: Final = 80
"""Characters below which a chunk stands for nothing: a lone heading or rule is unlike everything."""


@dataclass(frozen=True)
class ExcerptCandidate:
    """A chunk that may be an excerpt.

    Attributes:
        index: Its number in the document.
        text: Its text.
        headings: The headings over it.
    """

    index: int
    text: str
    headings: tuple[str, ...]


def spread(count: int, most: int = CANDIDATES) -> list[int]:
    """Numbers of chunks to choose from: the first, the last, and evenly between.

    Args:
        count: How many chunks the document has.
        most: How many to choose from at most, so that the cost doesn't grow with the document.
    """
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))}) if count else []


def representative(
    candidates: Sequence[ExcerptCandidate], vectors: Vectors, query: Vectors, keep: int = USUAL
) -> list[ExcerptCandidate]:
    """The excerpts of a document, in reading order.

    The first chunk and the last, the nearest to the question, and then by maximal marginal relevance
    (Carbonell and Goldstein, 1998) one of each section before a second of any.

    Args:
        candidates: Chunks of the document in reading order, the first and the last among them.
        vectors: Their vectors of length 1, (candidates, dims).
        query: The vector of `QUERY`, (dims,).
        keep: How many excerpts, 2–50.

    Raises:
        ValueError: `keep` is outside its range.
    """
    if not FEWEST <= keep <= MOST:
        raise ValueError(f"{keep!r} excerpts are not between {FEWEST} and {MOST}.")
    if len(candidates) <= keep:
        return list(candidates)
    relevance = _scaled(vectors @ query)
    likeness = _scaled(vectors @ vectors.T)
    sections = _sections(candidates, keep)
    free = np.array([len(candidate.text.strip()) >= SHORT for candidate in candidates])
    free[[0, -1]] = False
    nearest = [int(place) for place in np.argsort(-relevance) if free[place]]
    chosen = [0, len(candidates) - 1, *nearest[: (keep - 2) // HITS]]
    free[chosen] = False
    while len(chosen) < keep and free.any():
        new = free & ~np.isin(sections, sections[chosen])
        marginal = RELEVANCE * relevance - (1 - RELEVANCE) * likeness[:, chosen].max(axis=1)
        chosen.append(int(np.argmax(np.where(new if new.any() else free, marginal, -np.inf))))
        free[chosen] = False
    return [candidates[place] for place in sorted(chosen)]


def _scaled(values: Vectors) -> Vectors:
    """Cosines between 0 and 1: models differ in how narrow a band theirs keep to."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / max(high - low, 1e-6)


def _sections(candidates: Sequence[ExcerptCandidate], keep: int) -> NDArray[np.int64]:
    """The number of each candidate's section: by the outermost headings that vary, else by its place."""
    for level in range(1, 4):
        titles = {candidate.headings[:level]: 0 for candidate in candidates}
        if 2 < len(titles) <= 2 * keep:
            numbers = {title: number for number, title in enumerate(titles)}
            return np.array([numbers[candidate.headings[:level]] for candidate in candidates])
    return np.arange(len(candidates)) * keep // len(candidates)
