"""Streaming chunking: split a text of any length into chunks that fit an embedding model."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cognition.documents.boundaries import SENTENCE_END, SPACE, find_break, last_match_end
from cognition.documents.markdown_outline import Outline
from cognition.embedding import Embedder

OVERLAP: Final = 200
"""Minimum overlap of two chunks in characters, so that every passage of this length is inside one chunk."""

MAX_EXTENSION: Final = 100
"""Characters by which the overlap can be extended back to the start of a sentence."""

MAX_OVERLAP_SHARE, SMALL_OVERLAP_SHARE = 2 / 3, 1 / 6
"""Maximum share of a chunk that can be overlap, and the share to use if `OVERLAP` characters exceed it."""

MAX_DENSITY: Final = 8.0
"""Maximum characters per token to expect. Needed for text such as a megabyte of spaces, which is only three
tokens but must not become one chunk."""

FILL_TARGET: Final = 0.97
"""Share of the limit to aim for after a chunk was too large, since token density varies within a text."""

LOOKAHEAD: Final = 256
"""Characters to buffer beyond the expected end of a chunk."""
PIECE: Final = 1 << 16
"""Maximum characters to add to the buffer at a time."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of a text.

    Attributes:
        index: Its index in the text, from 0.
        text: The characters of the source in the range `chars`, unchanged.
        chars: Its start and end position in the source.
        lines: Its first and last line, from 1.
        headings: The Markdown headings above its new text, outermost first.
        shared: Number of characters at its start that overlap the previous chunk.
    """

    index: int
    text: str
    chars: tuple[int, int]
    lines: tuple[int, int]
    headings: tuple[str, ...]
    shared: int


def chunks(text: Iterable[str], embedder: Embedder) -> Iterator[Chunk]:
    """Split a text into chunks of the embedding model's recommended size; see `split`.

    Args:
        text: The text, in pieces of any size.
        embedder: The embedding model.
    """
    return split(text, embedder.count_tokens, embedder.chunk_tokens)


def split(text: Iterable[str], size: Callable[[str], int], limit: int) -> Iterator[Chunk]:
    """Split a text into chunks that cover all of it, none larger than the limit.

    A chunk ends at a natural break in the text. The next chunk starts 200 characters earlier, or up to 300 if
    that reaches the start of a sentence. With this overlap, every passage of 200 characters is inside one
    chunk. If 200 characters are most of a chunk, as with Chinese text and small chunks, the overlap is a
    sixth of the chunk instead. The length of a chunk is estimated from the previous chunks, then measured.

    Args:
        text: The text, in pieces of any size. Memory use does not depend on its length.
        size: Returns the size of a text, for example in tokens.
        limit: Maximum size of a chunk; only a chunk of a single character can exceed it.
    """
    window = _Window(text)
    outline = Outline()
    begin = fresh = index = 0
    density = MAX_DENSITY / 2
    while True:
        length = max(1, int(limit * density))
        dropped = window.fill(begin, length + LOOKAHEAD)
        begin, fresh, buffer = begin - dropped, fresh - dropped, window.text
        if fresh >= len(buffer):
            return
        highest = high = min(len(buffer), max(fresh + 1, begin + length))
        marks = outline.marks(buffer, fresh, min(len(buffer), highest + 1))
        end = find_break(buffer, fresh, high, marks) if high < len(buffer) else high
        while (used := size(buffer[begin:end])) > limit and end - begin > 1:
            if begin < fresh and (end - fresh) < (end - begin) * SMALL_OVERLAP_SHARE:
                begin, high = fresh, highest  # the overlap leaves too little room: drop it
            else:
                high = max(fresh + 1, min(end - 1, begin + int((end - begin) * FILL_TARGET * limit / used)))
            end = find_break(buffer, fresh, high, marks)
        outline.advance([mark for mark in marks if not buffer[fresh : mark.at].strip()], end)
        headings = outline.headings
        outline.advance(marks, end)
        first_line = window.line(begin)
        yield Chunk(
            index,
            buffer[begin:end],
            (window.start + begin, window.start + end),
            (first_line, first_line + buffer.count("\n", begin, end - 1)),
            headings,
            fresh - begin,
        )
        density = min(MAX_DENSITY, (density + (end - begin) / max(1, used)) / 2)
        begin, fresh, index = _next_begin(buffer, begin, end, limit / max(1, used)), end, index + 1


class _Window:
    """A buffer over a streamed text.

    Attributes:
        text: The buffered text.
        start: Its position in the whole text.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = (piece[at : at + PIECE] for piece in pieces for at in range(0, len(piece), PIECE))
        self._ended = False
        self._counted = 0
        self._line = 1
        self.text = ""
        self.start = 0

    def fill(self, begin: int, ahead: int) -> int:
        """Buffer up to `ahead` characters from `begin`. Return the number dropped from the buffer's start."""
        if self._ended or len(self.text) - begin >= ahead:
            return 0
        self.line(begin)
        parts = [self.text[begin:]]
        length = len(parts[0])
        while length < ahead and not self._ended:
            piece = next(self._pieces, "")
            self._ended = not piece
            parts.append(piece)
            length += len(piece)
        self.text = "".join(parts)
        self.start += begin
        self._counted = 0
        return begin

    def line(self, at: int) -> int:
        """Return the line number of a character. Positions must not decrease between calls."""
        self._line += self.text.count("\n", self._counted, at)
        self._counted = at
        return self._line


def _next_begin(text: str, begin: int, end: int, room: float) -> int:
    """Return the start of the next chunk.

    Args:
        text: The buffered text.
        begin: Start of the current chunk.
        end: End of the current chunk.
        room: The chunk size limit, relative to the size of the current chunk.
    """
    latest = max(begin, end - OVERLAP)
    if end - latest > (end - begin) * room * MAX_OVERLAP_SHARE:
        latest = end - int((end - begin) * SMALL_OVERLAP_SHARE)
    earliest = max(begin, latest - min(MAX_EXTENSION, (end - begin) // 8))
    start = last_match_end(SENTENCE_END, text, earliest, latest) or text.rfind("\n", earliest, latest) + 1
    return start or last_match_end(SPACE, text, earliest, latest) or latest
