"""Selection of excerpts: a few chunks that cover a document's purpose, start, end and sections."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cognition.embedding.embedder import Vectors

QUERY: Final = "What is this document for? Its purpose, main points, results, conclusions, recommendations."
"""A question whose best matches are the most informative passages of a document."""

MIN_EXCERPTS, DEFAULT_EXCERPTS, MAX_EXCERPTS = 2, 10, 50
MAX_CANDIDATES: Final = 200
"""Maximum number of chunks to select from, so that the cost does not grow with the document."""

RELEVANCE_WEIGHT: Final = 0.5
"""Weight of the similarity to `QUERY`; the rest is the weight of the difference from selected excerpts."""

RELEVANT_INTERVAL: Final = 5
"""One in this many excerpts is selected by its similarity to `QUERY` alone."""

MIN_CHARACTERS: Final = 80
"""Minimum characters of an excerpt. A lone heading or rule is uninformative, yet differs from everything."""


@dataclass(frozen=True)
class ExcerptCandidate:
    """A chunk that can be selected as an excerpt.

    Attributes:
        index: Its index in the document.
        text: Its text.
        headings: The headings above it, outermost first.
    """

    index: int
    text: str
    headings: tuple[str, ...]


def sample_indexes(count: int, limit: int = MAX_CANDIDATES) -> list[int]:
    """Return the indexes of the candidate chunks: the first, the last, and evenly spaced ones in between.

    Args:
        count: Number of chunks in the document.
        limit: Maximum number of candidates.
    """
    return sorted({round(index) for index in np.linspace(0, count - 1, min(count, limit))}) if count else []


def select_excerpts(
    candidates: Sequence[ExcerptCandidate], vectors: Vectors, query: Vectors, keep: int = DEFAULT_EXCERPTS
) -> list[ExcerptCandidate]:
    """Return the excerpts of a document, in order.

    Selects the first and last chunks and the most relevant ones, then continues by maximal marginal relevance
    (Carbonell and Goldstein, 1998), with one chunk from each section before a second one from any.

    Args:
        candidates: Chunks of the document, in order, including the first and the last.
        vectors: Their unit vectors, (candidates, dims).
        query: The vector of `QUERY`, (dims,).
        keep: Number of excerpts, 2–50.

    Raises:
        ValueError: If `keep` is not from 2 to 50.
    """
    if not MIN_EXCERPTS <= keep <= MAX_EXCERPTS:
        raise ValueError(f"Invalid number of excerpts {keep!r}: expected {MIN_EXCERPTS} to {MAX_EXCERPTS}.")
    if len(candidates) <= keep:
        return list(candidates)
    relevance = _scaled(vectors @ query)
    similarity = _scaled(vectors @ vectors.T)
    sections = _sections(candidates, keep)
    available = np.array([len(candidate.text.strip()) >= MIN_CHARACTERS for candidate in candidates])
    available[[0, -1]] = False
    most_relevant = [int(index) for index in np.argsort(-relevance) if available[index]]
    selected = [0, len(candidates) - 1, *most_relevant[: (keep - 2) // RELEVANT_INTERVAL]]
    available[selected] = False
    while len(selected) < keep and available.any():
        in_new_section = available & ~np.isin(sections, sections[selected])
        eligible = in_new_section if in_new_section.any() else available
        redundancy = similarity[:, selected].max(axis=1)
        marginal = RELEVANCE_WEIGHT * relevance - (1 - RELEVANCE_WEIGHT) * redundancy
        selected.append(int(np.argmax(np.where(eligible, marginal, -np.inf))))
        available[selected] = False
    return [candidates[index] for index in sorted(selected)]


def _scaled(values: Vectors) -> Vectors:
    """Scale cosines to 0–1, because models differ in the range of their cosines."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / max(high - low, 1e-6)


def _sections(candidates: Sequence[ExcerptCandidate], keep: int) -> NDArray[np.int64]:
    """Return each candidate's section number, from its outermost headings or else from its position."""
    for level in range(1, 4):
        titles = {candidate.headings[:level]: 0 for candidate in candidates}
        if 2 < len(titles) <= 2 * keep:
            numbers = {title: number for number, title in enumerate(titles)}
            return np.array([numbers[candidate.headings[:level]] for candidate in candidates])
    return np.arange(len(candidates)) * keep // len(candidates)
