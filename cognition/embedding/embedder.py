"""The interface of all embedding models: roles, long texts, stamps and cancellable batches."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, cast, overload

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from cognition.concurrency.tasks import run_workers
from cognition.errors import InvalidInput, Unavailable
from cognition.text.sanitize import clean

logger = logging.getLogger(__name__)

TextRole = Literal["query", "passage"]
Between = Literal["facts", "question"]
Vectors = NDArray[np.float32]

# The calibrated similarities of the two anchors. All thresholds of the memories use this scale.
UNRELATED_SIMILARITY = 0.20
PARAPHRASE_SIMILARITY = 0.90

# Longer texts are embedded by excerpts: averaging more windows adds no information and takes minutes.
EXCERPTS = 8
EXCERPT_CHARS = 1_600


class EmbeddingUnavailable(Unavailable):
    """An embedding model that can't be used. The message says what is missing and what to do."""


@dataclass(frozen=True)
class Stamp:
    """The identity of an embedding model. Only vectors with the same stamp are comparable."""

    model: str
    revision: str
    dims: int


@dataclass(frozen=True)
class Anchors:
    """The two cosines that map a model's scale to the common one: medians over the reference pairs."""

    unrelated: float
    paraphrase: float

    def __post_init__(self) -> None:
        if not -1 <= self.unrelated < self.paraphrase <= 1:
            msg = (
                f"Invalid {self}: expected -1 <= unrelated < paraphrase <= 1. The model does not separate "
                "paraphrases from unrelated texts."
            )
            raise InvalidInput(msg)


@dataclass(frozen=True)
class Calibration:
    """A conversion of a model's raw cosines to similarities that are comparable across models."""

    facts: Anchors  # two stored texts, both embedded as passages
    question: Anchors  # a query and its best match among the stored texts

    @overload
    def similarity(self, cosine: float, between: Between = "facts") -> float: ...
    @overload
    def similarity(self, cosine: Vectors, between: Between = "facts") -> Vectors: ...
    def similarity(self, cosine: float | Vectors, between: Between = "facts") -> float | Vectors:
        """Return the calibrated cosine, from 0 to 1.

        0.20 is the median of unrelated pairs, and 0.90 the median of paraphrases.

        Args:
            cosine: A raw cosine, or an array of them.
            between: `facts` if both texts were embedded as passages (fusion). `question` if one was embedded
                as a query (recall), which lowers the cosine of the same two texts; here, 0.20 is the
                similarity of the nearest stored text to a question that no stored text answers.
        """
        anchors = self.facts if between == "facts" else self.question
        place = (cosine - anchors.unrelated) / (anchors.paraphrase - anchors.unrelated)
        scaled = np.clip(
            UNRELATED_SIMILARITY + place * (PARAPHRASE_SIMILARITY - UNRELATED_SIMILARITY), 0.0, 1.0
        )
        return scaled if isinstance(cosine, np.ndarray) else float(scaled)


class Embedder(Embeddings, ABC):
    """A loaded embedding model. Safe to use from several threads at once.

    A backend is a subclass that sets the attributes and implements `_encode` and `_count`.

    Attributes:
        stamp: The identity of the model, unique to it.
        calibration: The model's measured anchors.
        chunk_tokens: The maximum chunk size in tokens that the model represents well.
        max_tokens: The maximum input of the model in tokens; a longer text is the mean of its windows.
    """

    stamp: Stamp
    calibration: Calibration
    chunk_tokens: int
    max_tokens: int
    # The batch size bounds memory, and how long a cancelled call keeps running.
    batch_texts: ClassVar[int] = 32
    batch_chars: ClassVar[int] = 16_000
    parallel_batches: ClassVar[int] = 1
    """Number of batches to run in parallel threads; 1 for an engine that uses all cores by itself."""

    @cached_property
    def threads(self) -> ThreadPoolExecutor:
        """The threads for embedding passages, separate from those of queries so that these never wait."""
        return ThreadPoolExecutor(self.parallel_batches, "cognition-embedding")

    @abstractmethod
    def _count(self, text: str) -> int:
        """Count the tokens of a sanitised text."""

    @abstractmethod
    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Embed at least one sanitised text; none is longer than `max_tokens`."""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text for this model, including special tokens."""
        return self._count(clean(text))

    def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Embed texts as queries or as passages.

        The vector of a text longer than `max_tokens` is the mean of its windows' vectors, weighted by token
        count, so that its end counts too. A very long text is sampled at evenly spaced windows, including the
        first and the last.

        Args:
            texts: Any strings; NUL and lone surrogates are replaced.
            role: `query` for search queries, `passage` for stored texts.

        Returns:
            An array (texts, dims) of unit vectors.
        """
        vectors = np.empty((len(texts), self.stamp.dims), dtype=np.float32)
        windows = [self._windows(clean(text)) for text in texts]
        for start, stop in _batches([sum(map(len, parts)) for parts in windows], self):
            parts = [part for text in windows[start:stop] for part in text]
            encoded = self._encode(parts, role)
            row = 0
            for index in range(start, stop):
                rows = encoded[row : row + len(windows[index])]
                vectors[index] = rows[0] if len(rows) == 1 else self._mean(rows, windows[index])
                row += len(rows)
        return vectors

    async def aembed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Embed texts in threads, batch by batch. Cancellation takes effect after the running batches."""
        vectors = np.empty((len(texts), self.stamp.dims), dtype=np.float32)
        batches = _batches([len(text) for text in texts], self)
        threads = self.threads if role == "passage" else None

        async def work() -> None:
            loop = asyncio.get_running_loop()
            for start, stop in batches:
                embedded = loop.run_in_executor(threads, self.embed, texts[start:stop], role)
                vectors[start:stop] = await embedded

        await run_workers(work, self.parallel_batches)
        return vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed stored texts; part of LangChain's interface."""
        return _lists(self.embed(texts, "passage"))

    def embed_query(self, text: str) -> list[float]:
        """Embed a search query; part of LangChain's interface."""
        return _lists(self.embed([text], "query"))[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed stored texts without blocking the event loop."""
        return _lists(await self.aembed(texts, "passage"))

    async def aembed_query(self, text: str) -> list[float]:
        """Embed a search query without blocking the event loop."""
        return _lists(await self.aembed([text], "query"))[0]

    def _windows(self, text: str) -> list[str]:
        return [window for excerpt in _excerpts(text) for window in self._split(excerpt)]

    def _split(self, text: str) -> Iterator[str]:
        """Split a text into pieces of at most `max_tokens`, at spaces if possible."""
        if len(text) <= self.max_tokens - 16 or self._count(text) <= self.max_tokens:
            yield text
            return
        middle = len(text) // 2
        cut = text.rfind(" ", middle // 2, middle) + 1 or middle
        yield from self._split(text[:cut])
        yield from self._split(text[cut:])

    def _mean(self, rows: Vectors, windows: Sequence[str]) -> Vectors:
        weights = np.array([self._count(window) for window in windows], dtype=np.float32)
        mean = weights @ rows
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def _lists(vectors: Vectors) -> list[list[float]]:
    return cast("list[list[float]]", vectors.tolist())


def _excerpts(text: str) -> list[str]:
    if len(text) <= EXCERPTS * EXCERPT_CHARS:
        return [text]
    logger.warning("text of %d characters is too long: embedding %d excerpts", len(text), EXCERPTS)
    starts = np.linspace(0, len(text) - EXCERPT_CHARS, EXCERPTS).astype(int)
    return [text[start : start + EXCERPT_CHARS] for start in starts]


def _batches(lengths: Sequence[int], embedder: Embedder) -> Iterator[tuple[int, int]]:
    """Yield the ranges of texts to encode together, based on their lengths in characters."""
    start, chars = 0, 0
    for index, length in enumerate(lengths):
        full = index - start == embedder.batch_texts or chars + length > embedder.batch_chars
        if full and index > start:
            yield start, index
            start, chars = index, 0
        chars += length
    if start < len(lengths):
        yield start, len(lengths)
