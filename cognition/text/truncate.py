"""Texts that must share a space: short ones stay whole, long ones lose their middle and say so."""

from collections.abc import Sequence
from typing import Final

HEAD: Final = 0.7
"""The share of what is kept that comes from a text's beginning; the rest is its end."""


def shorten(text: str, limit: int) -> str:
    """The text, or its beginning and end around a remark that says how much is left out.

    Args:
        text: Any text.
        limit: Characters that are kept of it; the remark comes on top.
    """
    if len(text) <= limit:
        return text
    head = round(limit * HEAD)
    tail = limit - head
    remark = f"\n[… {len(text) - limit:,} of {len(text):,} characters left out …]\n"
    return f"{text[:head].rstrip()}{remark}{text[len(text) - tail :].lstrip()}"


def shorten_together(texts: Sequence[str], budget: int) -> list[str]:
    """The texts in a budget for all of them: what short ones don't use is shared by the long ones.

    Args:
        texts: Any texts.
        budget: Characters for all together.
    """
    limit = fair_limit([len(text) for text in texts], budget)
    return [shorten(text, limit) for text in texts]


def fair_limit(lengths: Sequence[int], budget: int) -> int:
    """The largest limit at which lengths that are cut down to it fit a budget together."""
    left = budget
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        if length > share:
            return share
        left -= length
    return max(lengths, default=0)


LONGEST_QUERY = 1_500
"""Characters of a question that are looked up, half of them from its end; more would take seconds."""


def head_and_tail(query: str) -> str:
    """The text, or the first and the last part of a long one."""
    if len(query) <= LONGEST_QUERY:
        return query
    return f"{query[: LONGEST_QUERY // 2]} {query[-LONGEST_QUERY // 2 :]}"
