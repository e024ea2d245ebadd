"""A text on its way into session memory: measured, then cut into fragments a batch at a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from cognition.documents.chunking import Chunk, chunks
from cognition.embedding import Embedder
from cognition.memory.session.catalog import Source
from cognition.memory.session.chunk import SourceChunk
from cognition.text.language import detect_language
from cognition.text.sanitize import clean
from cognition.vectors import SparseVector
from cognition.vectors.bm25 import document_terms

PIECE: Final = 1 << 16
"""Characters of a file at a time."""

PREVIEW: Final = 160

TELLING: Final = 200
"""Characters that a language is told from: enough, and a third of the time of a whole chunk."""

SPACELESS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{4}")
"""Writing without spaces, which the word breaks of any other language make one word of."""

TOLD_EVERY: Final = 8
"""Chunks of one language: telling it for each takes longer than cutting them."""


@dataclass(frozen=True)
class Measured:
    """What a source is known by, in one pass over its text.

    Attributes:
        sha256: Of its UTF-8 bytes.
        size: How many those are.
        characters: How many characters.
        lines: How many lines.
        preview: How it begins, in one line; empty for a text without a visible character.
    """

    sha256: str
    size: int
    characters: int
    lines: int
    preview: str


def measure(text: str | Path) -> Measured:
    """Read a text once; blocking.

    Args:
        text: The text, or a file of UTF-8.
    """
    digest, size, characters, lines, begins = sha256(), 0, 0, 1, ""
    for piece in pieces(text):
        data = piece.encode()
        digest.update(data)
        size += len(data)
        characters += len(piece)
        lines += piece.count("\n")
        if len(begins) < PREVIEW:
            begins = preview(f"{begins} {piece}")
    return Measured(digest.hexdigest(), size, characters, lines, begins)


def preview(text: str) -> str:
    """How a text begins, in one line."""
    return " ".join(text[: 10 * PREVIEW].split())[:PREVIEW]


def pieces(text: str | Path) -> Iterator[str]:
    """The text in pieces, without what can't be stored; characters keep their places."""
    if isinstance(text, str):
        yield clean(text)
        return
    with text.open(encoding="utf-8", errors="replace", newline="") as file:
        while piece := file.read(PIECE):
            yield clean(piece)


class Splitter:
    """The fragments of a text with their terms.

    Args:
        text: The text, or a file of UTF-8.
        source: What it is a version of.
        embedder: The model that sets the size of a chunk.
    """

    def __init__(self, text: str | Path, source: Source, embedder: Embedder) -> None:
        self._chunks = chunks(pieces(text), embedder)
        self._source = source
        self._model = embedder.stamp.model
        self._language, self._spaceless = "", False
        self.languages: set[str] = set()
        """Those of the fragments so far."""
        self.ended = False
        """Whether no fragment is left."""

    def take(self, count: int) -> list[tuple[SourceChunk, SparseVector]]:
        """The next fragments; none at the end. Blocking."""
        taken = [self._fragment(chunk) for chunk in islice(self._chunks, count)]
        self.ended = len(taken) < count
        return taken

    def _fragment(self, chunk: Chunk) -> tuple[SourceChunk, SparseVector]:
        spaceless = SPACELESS.search(chunk.text)
        if chunk.index % TOLD_EVERY == 0 or self._spaceless != bool(spaceless):
            begin = spaceless.start() if spaceless else 0
            self._language = detect_language(chunk.text[begin : begin + TELLING])
            self._spaceless = bool(spaceless)
            self.languages.add(self._language)
        fragment = SourceChunk(
            user_id=self._source.user_id,
            chat_id=self._source.chat_id,
            source_id=self._source.source_id,
            version=self._source.version,
            chunk_index=chunk.index,
            text=chunk.text,
            char_range=chunk.chars,
            line_range=chunk.lines,
            shared=chunk.shared,
            heading_path=chunk.headings,
            tags=self._source.tags,
            created_at=self._source.first_at,
            indexed_at=self._source.indexed_at,
            embedding_model=self._model,
        )
        return fragment, document_terms(chunk.text, self._language)
