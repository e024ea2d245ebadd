"""Preparation of a text for session memory: measuring it, then splitting it into batches of chunks."""

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

READ_CHARS: Final = 1 << 16
"""Number of characters to read from a file at a time."""

PREVIEW: Final = 160
"""Maximum length of a preview in characters."""

DETECTION_CHARS: Final = 200
"""Number of characters for language detection: sufficient, in a third of the time of a whole chunk."""

SPACELESS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{4}")
"""Text in a script without spaces, which the tokenizers of other languages treat as a single word."""

DETECTION_INTERVAL: Final = 8
"""Number of chunks per language detection, which takes longer than splitting."""


@dataclass(frozen=True)
class Measured:
    """The properties of a text, measured in one pass.

    Attributes:
        sha256: The hash of its UTF-8 bytes.
        size: Size in bytes of UTF-8.
        characters: Number of characters.
        lines: Number of lines.
        preview: Its beginning in one line; empty if the text is blank.
    """

    sha256: str
    size: int
    characters: int
    lines: int
    preview: str


def measure(text: str | Path) -> Measured:
    """Measure a text. Blocking.

    Args:
        text: The text, or the path of a UTF-8 file.
    """
    digest, size, characters, lines, beginning = sha256(), 0, 0, 1, ""
    for piece in pieces(text):
        data = piece.encode()
        digest.update(data)
        size += len(data)
        characters += len(piece)
        lines += piece.count("\n")
        if len(beginning) < PREVIEW:
            beginning = preview(f"{beginning} {piece}")
    return Measured(digest.hexdigest(), size, characters, lines, beginning)


def preview(text: str) -> str:
    """Return the beginning of a text in one line."""
    return " ".join(text[: 10 * PREVIEW].split())[:PREVIEW]


def pieces(text: str | Path) -> Iterator[str]:
    """Yield a text in sanitised pieces, in which all characters keep their offsets."""
    if isinstance(text, str):
        yield clean(text)
        return
    with text.open(encoding="utf-8", errors="replace", newline="") as file:
        while piece := file.read(READ_CHARS):
            yield clean(piece)


class Splitter:
    """A splitter that produces the chunks of a text with their terms.

    Args:
        text: The text, or the path of a UTF-8 file.
        source: The version that the text belongs to.
        embedder: The embedding model, which determines the chunk size.
    """

    def __init__(self, text: str | Path, source: Source, embedder: Embedder) -> None:
        self._chunks = chunks(pieces(text), embedder)
        self._source = source
        self._model = embedder.stamp.model
        self._language, self._spaceless = "", False
        self.languages: set[str] = set()
        """The languages of the chunks so far."""
        self.ended = False
        """True if there are no more chunks."""

    def take(self, count: int) -> list[tuple[SourceChunk, SparseVector]]:
        """Return the next chunks; empty at the end. Blocking."""
        batch = [self._source_chunk(chunk) for chunk in islice(self._chunks, count)]
        self.ended = len(batch) < count
        return batch

    def _source_chunk(self, chunk: Chunk) -> tuple[SourceChunk, SparseVector]:
        spaceless = SPACELESS.search(chunk.text)
        if chunk.index % DETECTION_INTERVAL == 0 or self._spaceless != bool(spaceless):
            begin = spaceless.start() if spaceless else 0
            self._language = detect_language(chunk.text[begin : begin + DETECTION_CHARS])
            self._spaceless = bool(spaceless)
            self.languages.add(self._language)
        source_chunk = SourceChunk(
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
        return source_chunk, document_terms(chunk.text, self._language)
