"""Break points for chunking: the best place to end a chunk within a range of text."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from cognition.documents.markdown_outline import Mark

# Minimum share of the range that must precede each kind of break, so that chunks do not get too short.
MIN_SECTION, MIN_PARAGRAPH, MIN_LINE, MIN_WORD = 0.25, 0.4, 0.5, 0.75

SENTENCE_END: Final = re.compile(r"[.!?…؟۔।]['\"”’»)\]]*\s+|[。！？；][”’」』）]*\s*")  # noqa: RUF001
SPACE: Final = re.compile(r"\s+")
CLAUSE: Final = re.compile("[,;}\\]、，；]")  # noqa: RUF001
TAIL: Final = 240
"""Characters at the end of a range to search first, because the last sentence end is usually there."""

JOINERS: Final = "\u200d\ufe0e\ufe0f"
MAX_CLUSTER: Final = 16
"""Maximum characters to step back to avoid splitting a grapheme cluster."""

MAX_INDENTED: Final = 16
"""Maximum number of paragraph breaks to skip because an indented line follows."""


def find_break(text: str, begin: int, high: int, marks: Sequence[Mark]) -> int:
    """Return the best position to end a chunk, greater than `begin` and at most `high`.

    In order of preference: before a heading or a code fence that does not fit; after a paragraph, preferably
    one followed by an unindented line, as between functions; after a line, a sentence, a word or a comma. A
    code fence that fits is not split.

    Args:
        text: The text.
        begin: Start of the chunk's new text.
        high: Latest end of the chunk: greater than `begin`, at most the length of the text.
        marks: The headings and fence edges between `begin` and `high`; later ones are ignored.
    """
    length = high - begin
    low = begin + int(length * MIN_SECTION)
    fence_end = 0
    for mark in reversed(marks):
        if mark.at > high:
            continue
        if low < mark.at and (mark.level or (mark.fence and not fence_end)):
            return mark.at
        if not mark.level and not mark.fence and not fence_end:
            fence_end = text.find("\n", mark.at, high) + 1 or high
    low = max(fence_end, begin + int(length * MIN_PARAGRAPH))
    return (
        _paragraph_end(text, low, high)
        or (fence_end if low == fence_end else 0)
        or _line_end(text, max(low, begin + int(length * MIN_LINE)), high)
        or last_match_end(SPACE, text, begin + int(length * MIN_WORD), high)
        or last_match_end(CLAUSE, text, begin + int(length * MIN_WORD), high)
        or _character_end(text, begin, high)
    )


def last_match_end(pattern: re.Pattern[str], text: str, low: int, high: int) -> int:
    """Return the end of the last match in a range, or 0 if there is none."""
    tail = max(low, high - TAIL)
    end = 0
    for match in pattern.finditer(text, tail, high):
        end = match.end()
    if not end and low < tail:
        for match in pattern.finditer(text, low, tail):
            end = match.end()
    return end


def _paragraph_end(text: str, low: int, high: int) -> int:
    """Return the end of the last paragraph in a range, or 0 if there is no blank line."""
    last = at = text.rfind("\n\n", low, high)
    for _ in range(MAX_INDENTED):
        if at < 0 or not text[at + 2 : at + 3].isspace():
            break
        at = text.rfind("\n\n", low, at + 1)
    return 0 if last < 0 else (at if at >= 0 else last) + 2


def _line_end(text: str, low: int, high: int) -> int:
    """Return the end of the last line or sentence in a range, or 0 if there is neither.

    If the next line starts with a lowercase letter, the text is wrapped prose, and a sentence end is better.
    """
    line = text.rfind("\n", low, high) + 1
    if line and not text[line : line + 1].islower():
        return line
    return last_match_end(SENTENCE_END, text, low, high) or line


def _character_end(text: str, begin: int, high: int) -> int:
    """Return `high`, or a slightly earlier position if `high` would split a grapheme cluster."""
    for at in range(high, max(begin, high - MAX_CLUSTER), -1):
        before, after = text[at - 1], text[at : at + 1]
        joined = after and (unicodedata.combining(after) or after in JOINERS)
        if not joined and before != "\u200d" and (before, after) != ("\r", "\n"):
            return at
    return high
