"""Cutting a text of any length into chunks that an embedding model reads whole, while it streams by."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cognition.documents.boundaries import SENTENCE_END, SPACE, cut, last
from cognition.documents.markdown_outline import Outline
from cognition.embedding import Embedder

OVERLAP: Final = 200
"""Characters that two chunks share at least, so that every passage of this length lies inside one of them."""

SENTENCE: Final = 100
"""Characters that the overlap may grow by, back to where a sentence begins."""

MOST_SHARED, LITTLE = 2 / 3, 1 / 6
"""Share of a chunk that may be overlap, and what it is where 200 characters are more than that."""

LOOSEST: Final = 8.0
"""Characters per token at most: a megabyte of spaces is three tokens, and still no chunk."""

FULL: Final = 0.97
"""How full a chunk is aimed to be that came out too large: text is not equally dense everywhere."""

LOOKAHEAD: Final = 256
PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text.

    Attributes:
        index: Its number in the text, from 0.
        text: The source's characters in `chars`, unchanged.
        chars: Where it begins and ends in the source.
        lines: Its first and last line, from 1.
        headings: The Markdown headings over the text that it adds to the chunk before, outermost first.
        shared: How many characters it begins with that are the end of the chunk before.
    """

    index: int
    text: str
    chars: tuple[int, int]
    lines: tuple[int, int]
    headings: tuple[str, ...]
    shared: int


def chunks(text: Iterable[str], embedder: Embedder) -> Iterator[Chunk]:
    """The chunks of a text, as large as the model still represents well; see `split`.

    Args:
        text: The text in pieces of any size.
        embedder: The model that sets the size.
    """
    return split(text, embedder.count_tokens, embedder.chunk_tokens)


def split(text: Iterable[str], size: Callable[[str], int], limit: int) -> Iterator[Chunk]:
    """The chunks of a text, none larger than the limit, their ranges covering all of it.

    A chunk ends where the text itself has a break. The next one begins 200 characters before that, or up to
    100 more where a sentence begins there: the overlap is what every passage of 200 characters needs to lie
    inside one chunk, and at most one sentence more. Where 200 characters fill most of a chunk, as Chinese
    does with small ones, it is a sixth. A chunk holds as many characters as the sizes of the last ones let
    expect, and is measured once it is cut.

    Args:
        text: The text in pieces of any size; memory does not depend on its length.
        size: Measures a text, such as in tokens.
        limit: The largest size of a chunk; only a single character may be larger.
    """
    window = _Window(text)
    outline = Outline()
    begin = fresh = index = 0
    density = LOOSEST / 2
    while True:
        reach = max(1, int(limit * density))
        gone = window.hold(begin, reach + LOOKAHEAD)
        begin, fresh, held = begin - gone, fresh - gone, window.text
        if fresh >= len(held):
            return
        most = high = min(len(held), max(fresh + 1, begin + reach))
        marks = outline.marks(held, fresh, min(len(held), most + 1))
        end = cut(held, fresh, high, marks) if high < len(held) else high
        while (used := size(held[begin:end])) > limit and end - begin > 1:
            if begin < fresh and (end - fresh) < (end - begin) * LITTLE:
                begin, high = fresh, most  # the overlap is too much: do without
            else:
                high = max(fresh + 1, min(end - 1, begin + int((end - begin) * FULL * limit / used)))
            end = cut(held, fresh, high, marks)
        outline.advance([mark for mark in marks if not held[fresh : mark.at].strip()], end)
        headings = outline.headings
        outline.advance(marks, end)
        first = window.line(begin)
        yield Chunk(
            index,
            held[begin:end],
            (window.start + begin, window.start + end),
            (first, first + held.count("\n", begin, end - 1)),
            headings,
            fresh - begin,
        )
        density = min(LOOSEST, (density + (end - begin) / max(1, used)) / 2)
        begin, fresh, index = _overlap(held, begin, end, limit / max(1, used)), end, index + 1


class _Window:
    """The part of a streamed text that is at work, and where in the whole it lies."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = (piece[at : at + PIECE] for piece in pieces for at in range(0, len(piece), PIECE))
        self._ended = False
        self._counted = 0
        self._line = 1
        self.text = ""
        self.start = 0

    def hold(self, begin: int, ahead: int) -> int:
        """Have `ahead` characters from `begin` on where there are so many; says how many before it went."""
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
        """The number of the line that a character is in; asked in the order of the text."""
        self._line += self.text.count("\n", self._counted, at)
        self._counted = at
        return self._line


def _overlap(text: str, begin: int, end: int, room: float) -> int:
    """Where the chunk after the one from `begin` to `end` begins; it has room for `room` times as much."""
    latest = max(begin, end - OVERLAP)
    if end - latest > (end - begin) * room * MOST_SHARED:
        latest = end - int((end - begin) * LITTLE)
    earliest = max(begin, latest - min(SENTENCE, (end - begin) // 8))
    start = last(SENTENCE_END, text, earliest, latest) or text.rfind("\n", earliest, latest) + 1
    return start or last(SPACE, text, earliest, latest) or latest
