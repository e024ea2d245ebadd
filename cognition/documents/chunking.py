"""Cutting a text of any length into chunks that an embedding model reads whole, while it streams by."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from cognition.embedding import Embedder

OVERLAP: Final = 200
"""Characters that two chunks share at least, so that every passage of this length lies inside one of them."""

SENTENCE: Final = 100
"""Characters that the overlap may grow by, back to where a sentence begins."""

ROOM: Final = 1 / 3
"""Share of a chunk that is always new; where 200 characters are many tokens, the overlap gives way."""

DENSEST: Final = 8.0
"""Characters per token at most: a megabyte of spaces is three tokens, and still no chunk."""

LOOKAHEAD: Final = 256
PIECE: Final = 1 << 16

# How much of a chunk's new text must lie before a break for it to be worth taking.
SECTION_FROM, PARAGRAPH_FROM, LINE_FROM, WORD_FROM = 0.25, 0.4, 0.5, 0.75

MARK: Final = re.compile(r"(?<![^\n])(?:(#{1,6})[ \t]+(\S[^\n]*)|(`{3,}|~{3,})([^\n]*))")
TOP_LEVEL: Final = re.compile(r"\n[ \t\r]*\n+(?=\S)")
SENTENCE_END: Final = re.compile(r"[.!?…؟۔।]['\"”’»)\]]*\s+|[。！？；][”’」』）]*\s*")  # noqa: RUF001
SPACE: Final = re.compile(r"\s+")
JOINERS: Final = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True)
class Chunk:
    """A part of a text.

    Attributes:
        index: Its number in the text, from 0.
        text: The source's characters in `chars`, unchanged.
        chars: Where it begins and ends in the source.
        lines: Its first and last line, from 1.
        headings: The Markdown headings over the text that it adds to the chunk before, outermost first.
    """

    index: int
    text: str
    chars: tuple[int, int]
    lines: tuple[int, int]
    headings: tuple[str, ...]


def chunks(text: Iterable[str], embedder: Embedder) -> Iterator[Chunk]:
    """The chunks of a text, as large as the model still represents well; see `split`.

    Args:
        text: The text in pieces of any size.
        embedder: The model that sets the size.
    """
    return split(text, embedder.count_tokens, embedder.chunk_tokens)


def split(text: Iterable[str], size: Callable[[str], int], limit: int) -> Iterator[Chunk]:
    """The chunks of a text, none larger than the limit, their ranges covering all of it.

    A chunk ends where the text itself has a break: before a heading, else after a paragraph, a line, a
    sentence, a word, and inside a code fence only when the fence is longer than the chunk. The next one
    begins 200 characters before, or where the sentence begins that this place falls into.

    Args:
        text: The text in pieces of any size; memory does not depend on its length.
        size: Measures a text, such as in tokens.
        limit: The largest size of a chunk; only a single character may be larger.
    """
    source = _Source(text)
    outline = _Outline()
    begin = fresh = index = 0
    ratio = 4.0
    while True:
        window = max(1, int(limit * ratio))
        gone = source.keep(begin, max(window, 2 * OVERLAP) + LOOKAHEAD)
        begin, fresh = begin - gone, fresh - gone
        held = source.text
        if fresh >= len(held):
            return
        marks = outline.marks(held, fresh, min(len(held), begin + window + 1))
        high = begin + window
        while True:
            end = len(held) if high >= len(held) else _cut(held, fresh, max(high, fresh + 1), marks)
            used = size(held[begin:end])
            if used <= limit or end - begin <= 1:
                break
            if end - fresh <= 1:
                begin = fresh
            high = min(end - 1, begin + int((end - begin) * 0.97 * limit / used))
        headings = outline.advance(marks, fresh, end, held)
        first = source.line(begin)
        place = source.start + begin, source.start + end
        lines = first, first + held.count("\n", begin, end - 1)
        yield Chunk(index, held[begin:end], place, lines, headings)
        ratio = min(DENSEST, (ratio + (end - begin) / max(1, used)) / 2)
        begin, fresh, index = _overlap(held, begin, end, size, limit), end, index + 1


class _Source:
    """What of a streamed text is at work, and where in the whole it lies."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = (piece[at : at + PIECE] for piece in pieces for at in range(0, len(piece), PIECE))
        self._ended = False
        self._counted = 0
        self._line = 1
        self.text = ""
        self.start = 0

    def keep(self, begin: int, ahead: int) -> int:
        """Hold at least `ahead` characters from `begin` on where there are so many; says how many went."""
        if self._ended or len(self.text) - begin >= ahead:
            return 0
        self.line(begin)
        parts = [self.text[begin:]]
        length = len(parts[0])
        while length < ahead:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
                break
            parts.append(piece)
            length += len(piece)
        self.text = "".join(parts)
        self.start += begin
        self._counted = 0
        return begin

    def line(self, at: int) -> int:
        """The number of the line that a character is in; places must be asked in order."""
        self._line += self.text.count("\n", self._counted, at)
        self._counted = at
        return self._line


class _Mark(NamedTuple):
    """A line of Markdown that shapes what follows: a heading, or the edge of a code fence."""

    at: int
    level: int
    title: str
    fence: str


class _Outline:
    """The headings over a place in a text, and the code fence that it is in."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._fence = ""

    def marks(self, text: str, begin: int, end: int) -> list[_Mark]:
        """The headings and fence edges in a range; what stands in a fence is neither."""
        found = []
        fence = self._fence
        for match in MARK.finditer(text, begin, end):
            hashes, title, ticks, info = match.groups()
            if ticks:
                if not fence:
                    fence = ticks
                elif ticks.startswith(fence) and not info.strip():
                    fence = ""
                else:
                    continue
                found.append(_Mark(match.start(), 0, "", fence))
            elif not fence:
                found.append(_Mark(match.start(), len(hashes), title.strip(" \t\r#"), ""))
        return found

    def advance(self, marks: list[_Mark], begin: int, end: int, text: str) -> tuple[str, ...]:
        """Go on to `end`; returns the headings over the range, one that opens it included."""
        over = None
        for mark in marks:
            if mark.at >= end:
                break
            if over is None and (not mark.level or text[begin : mark.at].strip()):
                over = self._titles()
            if mark.level:
                self._path = [(n, title) for n, title in self._path if n < mark.level]
                self._path.append((mark.level, mark.title))
            else:
                self._fence = mark.fence
        return self._titles() if over is None else over

    def _titles(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._path)


def _cut(text: str, fresh: int, high: int, marks: list[_Mark]) -> int:
    """The best place to end a chunk whose new text begins at `fresh`: beyond it, and `high` at most."""
    reach = high - fresh
    low = fresh + int(reach * SECTION_FROM)
    closed = 0
    for mark in reversed([mark for mark in marks if mark.at <= high]):
        if mark.level or (mark.fence and not closed):
            if low < mark.at:
                return mark.at
        elif not mark.fence and not closed:
            closed = text.find("\n", mark.at, high) + 1
    low = max(closed, fresh + int(reach * PARAGRAPH_FROM))
    return (
        _last(TOP_LEVEL, text, low, high)
        or (closed if closed >= low else 0)
        or _inside(text, max(low, fresh + int(reach * LINE_FROM)), high)
        or _last(SPACE, text, fresh + int(reach * WORD_FROM), high)
        or _whole(text, fresh, high)
    )


def _inside(text: str, low: int, high: int) -> int:
    """Where the last blank line, line or sentence in a range ends; 0 when there is none.

    A line that goes on in the next with a small letter is wrapped prose, where a sentence is the better end.
    """
    line = text.rfind("\n\n", low, high) + 2
    line = line if line > 1 else text.rfind("\n", low, high) + 1
    if line and not text[line : line + 1].islower():
        return line
    return _last(SENTENCE_END, text, low, high) or line


def _last(pattern: re.Pattern[str], text: str, low: int, high: int) -> int:
    """Where the last match in a range ends; 0 when there is none."""
    end = 0
    for match in pattern.finditer(text, low, high):
        end = match.end()
    return end


def _whole(text: str, fresh: int, high: int) -> int:
    """`high`, or a few characters before it where it would part what is shown as one character."""
    for at in range(high, max(fresh, high - 16), -1):
        after, before = text[at : at + 1], text[at - 1]
        joined = after and (unicodedata.combining(after) or after in JOINERS)
        if not joined and before != "\u200d" and (before, after) != ("\r", "\n"):
            return at
    return high


def _overlap(text: str, begin: int, end: int, size: Callable[[str], int], limit: int) -> int:
    """Where the chunk after `end` begins."""
    target = max(begin + 1, end - OVERLAP) if end - begin > 1 else end
    low = max(begin + 1, target - SENTENCE)
    start = _last(SENTENCE_END, text, low, target) or text.rfind("\n", low, target) + 1
    start = start or _last(SPACE, text, low, target) or target
    while start < end and size(text[start:end]) > limit * (1 - ROOM):
        start += max(1, (end - start) // 4)
    return start
