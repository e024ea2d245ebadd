"""Truncation of texts: long ones lose their middle, with a note about the omission."""

from collections.abc import Sequence
from typing import Final

HEAD: Final = 0.7
"""Share of the kept characters that come from the start of a text; the rest come from its end."""

LONGEST_QUERY: Final = 1_500
"""Maximum characters of a search query; a longer one would take seconds."""


def head_and_tail(query: str) -> str:
    """Shorten a search query to `LONGEST_QUERY` characters, half from its start and half from its end."""
    if len(query) <= LONGEST_QUERY:
        return query
    return f"{query[: LONGEST_QUERY // 2]} {query[-LONGEST_QUERY // 2 :]}"


def shorten(text: str, limit: int) -> str:
    """Shorten a text to its start and end, with a note in between about the omitted characters.

    Args:
        text: Any text.
        limit: Maximum characters to keep, not counting the note.
    """
    if len(text) <= limit:
        return text
    head = round(limit * HEAD)
    tail = limit - head
    note = f"\n[… {len(text) - limit:,} of {len(text):,} characters left out …]\n"
    return f"{text[:head].rstrip()}{note}{text[len(text) - tail :].lstrip()}"


def shorten_together(texts: Sequence[str], budget: int) -> list[str]:
    """Shorten texts to a common budget; characters that short texts do not need go to the long ones.

    Args:
        texts: Any texts.
        budget: Maximum characters of all texts together.
    """
    limit = fair_limit([len(text) for text in texts], budget)
    return [shorten(text, limit) for text in texts]


def fair_limit(lengths: Sequence[int], budget: int) -> int:
    """Return the largest limit for each length at which the limited lengths fit the budget together."""
    remaining = budget
    for index, length in enumerate(sorted(lengths)):
        share = remaining // (len(lengths) - index)
        if length > share:
            return share
        remaining -= length
    return max(lengths, default=0)
