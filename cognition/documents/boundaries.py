"""Where a text may be cut: the best break in a range, by what the text itself shows."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from cognition.documents.markdown_outline import Mark

# How much of a chunk's new text must lie before a break for it to be worth taking.
SECTION_FROM, PARAGRAPH_FROM, LINE_FROM, WORD_FROM = 0.25, 0.4, 0.5, 0.75

SENTENCE_END: Final = re.compile(r"[.!?…؟۔।]['\"”’»)\]]*\s+|[。！？；][”’」』）]*\s*")  # noqa: RUF001
SPACE: Final = re.compile(r"\s+")
CLAUSE: Final = re.compile("[,;}\\]、，；]")  # noqa: RUF001
NEAR: Final = 240
"""Characters before the end of a range that hold its last sentence mostly: looking there first is quicker."""

JOINED: Final = "\u200d\ufe0e\ufe0f"
LONGEST_CLUSTER: Final = 16
NESTED: Final = 16


def cut(text: str, begin: int, high: int, marks: Sequence[Mark]) -> int:
    """The best place to end what begins at `begin`: beyond it, and `high` at most.

    Before a heading, or a code fence that doesn't fit; else after a paragraph, best one that a line without
    indent follows, as between functions; else after a line, a sentence, a word, a comma. A fence that fits is
    kept whole.

    Args:
        text: The text.
        begin: Where the new text of the chunk begins.
        high: Beyond `begin`, at most the text's length.
        marks: The headings and fence edges from `begin` to `high` at least.
    """
    reach = high - begin
    low = begin + int(reach * SECTION_FROM)
    closed = 0
    for mark in reversed(marks):
        if mark.at > high:
            continue
        if low < mark.at and (mark.level or (mark.fence and not closed)):
            return mark.at
        if not mark.level and not mark.fence and not closed:
            closed = text.find("\n", mark.at, high) + 1 or high
    low = max(closed, begin + int(reach * PARAGRAPH_FROM))
    return (
        _paragraph(text, low, high)
        or (closed if low == closed else 0)
        or _line(text, max(low, begin + int(reach * LINE_FROM)), high)
        or last(SPACE, text, begin + int(reach * WORD_FROM), high)
        or last(CLAUSE, text, begin + int(reach * WORD_FROM), high)
        or _whole(text, begin, high)
    )


def last(pattern: re.Pattern[str], text: str, low: int, high: int) -> int:
    """Where the last match in a range ends; 0 when there is none."""
    near = max(low, high - NEAR)
    end = 0
    for match in pattern.finditer(text, near, high):
        end = match.end()
    if not end and low < near:
        for match in pattern.finditer(text, low, near):
            end = match.end()
    return end


def _paragraph(text: str, low: int, high: int) -> int:
    """Where the last paragraph in a range ends; 0 when there is no blank line."""
    first = at = text.rfind("\n\n", low, high)
    for _ in range(NESTED):
        if at < 0 or not text[at + 2 : at + 3].isspace():
            break
        at = text.rfind("\n\n", low, at + 1)
    return 0 if first < 0 else (at if at >= 0 else first) + 2


def _line(text: str, low: int, high: int) -> int:
    """Where the last line or sentence in a range ends; 0 when there is neither.

    A line that goes on in the next with a small letter is wrapped prose, where a sentence is the better end.
    """
    line = text.rfind("\n", low, high) + 1
    if line and not text[line : line + 1].islower():
        return line
    return last(SENTENCE_END, text, low, high) or line


def _whole(text: str, begin: int, high: int) -> int:
    """`high`, or a few characters before it where it would part what is shown as one character."""
    for at in range(high, max(begin, high - LONGEST_CLUSTER), -1):
        before, after = text[at - 1], text[at : at + 1]
        joined = after and (unicodedata.combining(after) or after in JOINED)
        if not joined and before != "\u200d" and (before, after) != ("\r", "\n"):
            return at
    return high
