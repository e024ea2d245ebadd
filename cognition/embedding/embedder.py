"""The one interface of every embedding model: roles, long texts, stamps and batches that can be cancelled."""

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

# The similarities that the two anchors stand for: every threshold of the memory is on this scale.
UNRELATED_SIMILARITY = 0.20
PARAPHRASE_SIMILARITY = 0.90

# Past these a text is read in excerpts: averaging more windows says nothing more, and takes minutes.
EXCERPTS = 8
EXCERPT_CHARS = 1_600


class EmbeddingUnavailable(Unavailable):
    """An embedding model cannot be used; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Stamp:
    """What a collection must have been embedded with for its vectors to be comparable."""

    model: str
    revision: str
    dims: int


@dataclass(frozen=True)
class Anchors:
    """The two cosines that tie a model's own scale to the shared one: medians over measured pairs."""

    unrelated: float
    paraphrase: float

    def __post_init__(self) -> None:
        if not -1 <= self.unrelated < self.paraphrase <= 1:
            msg = f"{self} is no scale: the model doesn't tell texts that say the same from unrelated ones."
            raise InvalidInput(msg)


@dataclass(frozen=True)
class Calibration:
    """Turns a model's raw cosines into similarities that mean the same for every model."""

    facts: Anchors  # two stored texts, both in the role of passage
    question: Anchors  # a query, and the best of all that is stored

    @overload
    def similarity(self, cosine: float, between: Between = "facts") -> float: ...
    @overload
    def similarity(self, cosine: Vectors, between: Between = "facts") -> Vectors: ...
    def similarity(self, cosine: float | Vectors, between: Between = "facts") -> float | Vectors:
        """The calibrated cosine, 0–1: 0.20 is the median of unrelated pairs, 0.90 of pairs that say the same.

        Args:
            cosine: One raw cosine, or an array of them.
            between: `facts` where both texts were embedded as passages (fusion); `question` where one was
                embedded as a query (recall), which sets the same two texts further apart, and where 0.20
                is how near the nearest stored text comes to a question that none of them answers.
        """
        anchors = self.facts if between == "facts" else self.question
        place = (cosine - anchors.unrelated) / (anchors.paraphrase - anchors.unrelated)
        scaled = np.clip(
            UNRELATED_SIMILARITY + place * (PARAPHRASE_SIMILARITY - UNRELATED_SIMILARITY), 0.0, 1.0
        )
        return scaled if isinstance(cosine, np.ndarray) else float(scaled)


class Embedder(Embeddings, ABC):
    """An embedding model, loaded. Safe to use from several threads at once.

    A backend is one subclass: it sets the attributes and implements `_encode` and `_count`.

    Attributes:
        stamp: Identifies the vectors; two models never share one.
        calibration: The model's measured anchors.
        chunk_tokens: The longest chunk of a document that this model still represents well.
        max_tokens: What the model reads at once; a longer text becomes the mean of its windows.
    """

    stamp: Stamp
    calibration: Calibration
    chunk_tokens: int
    max_tokens: int
    # A batch bounds memory, and how long a cancelled call goes on working.
    batch_texts: ClassVar[int] = 32
    batch_chars: ClassVar[int] = 16_000
    at_once: ClassVar[int] = 1
    """Batches in threads side by side; 1 for an engine that takes every core by itself."""

    @cached_property
    def threads(self) -> ThreadPoolExecutor:
        """Threads for what is stored: however much that is, a question finds one that is free."""
        return ThreadPoolExecutor(self.at_once, "cognition-embedding")

    @abstractmethod
    def _count(self, text: str) -> int:
        """Tokens of a clean text."""

    @abstractmethod
    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Vectors of texts that are clean, at least one, and no longer than `max_tokens`."""

    def count_tokens(self, text: str) -> int:
        """Tokens of the text as this model counts them, special ones included."""
        return self._count(clean(text))

    def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Embed texts in one role.

        A text beyond `max_tokens` is the mean of its windows by their tokens, so that its tail counts as
        well; of a very long one, evenly spread windows are read, the first and the last among them.

        Args:
            texts: Any strings; NUL and lone surrogates are replaced.
            role: `query` for what is searched with, `passage` for what is stored.

        Returns:
            An array (texts, dims) of rows of length 1.
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
        """As `embed`, in threads and batch by batch: cancelling stops after the batches at work."""
        vectors = np.empty((len(texts), self.stamp.dims), dtype=np.float32)
        batches = _batches([len(text) for text in texts], self)
        threads = self.threads if role == "passage" else None

        async def work() -> None:
            loop = asyncio.get_running_loop()
            for start, stop in batches:
                embedded = loop.run_in_executor(threads, self.embed, texts[start:stop], role)
                vectors[start:stop] = await embedded

        await run_workers(work, self.at_once)
        return vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """LangChain's way to embed what is stored."""
        return _lists(self.embed(texts, "passage"))

    def embed_query(self, text: str) -> list[float]:
        """LangChain's way to embed what is searched with."""
        return _lists(self.embed([text], "query"))[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """As `embed_documents`, off the event loop."""
        return _lists(await self.aembed(texts, "passage"))

    async def aembed_query(self, text: str) -> list[float]:
        """As `embed_query`, off the event loop."""
        return _lists(await self.aembed([text], "query"))[0]

    def _windows(self, text: str) -> list[str]:
        return [window for excerpt in _excerpts(text) for window in self._halves(excerpt)]

    def _halves(self, text: str) -> Iterator[str]:
        """The text in pieces that the model reads whole, cut at spaces where there are some."""
        if len(text) <= self.max_tokens - 16 or self._count(text) <= self.max_tokens:
            yield text
            return
        middle = len(text) // 2
        cut = text.rfind(" ", middle // 2, middle) + 1 or middle
        yield from self._halves(text[:cut])
        yield from self._halves(text[cut:])

    def _mean(self, rows: Vectors, windows: Sequence[str]) -> Vectors:
        weights = np.array([self._count(window) for window in windows], dtype=np.float32)
        mean = weights @ rows
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def _lists(vectors: Vectors) -> list[list[float]]:
    return cast("list[list[float]]", vectors.tolist())


def _excerpts(text: str) -> list[str]:
    if len(text) <= EXCERPTS * EXCERPT_CHARS:
        return [text]
    logger.warning("Of a text of %d characters, %d excerpts are embedded.", len(text), EXCERPTS)
    starts = np.linspace(0, len(text) - EXCERPT_CHARS, EXCERPTS).astype(int)
    return [text[start : start + EXCERPT_CHARS] for start in starts]


def _batches(lengths: Sequence[int], embedder: Embedder) -> Iterator[tuple[int, int]]:
    """Ranges of texts that go to the model together, by their lengths in characters."""
    start, chars = 0, 0
    for index, length in enumerate(lengths):
        full = index - start == embedder.batch_texts or chars + length > embedder.batch_chars
        if full and index > start:
            yield start, index
            start, chars = index, 0
        chars += length
    if start < len(lengths):
        yield start, len(lengths)
