"""Whether an answer ends in a question to whoever asked."""

import re
from typing import Final

ASKS: Final = re.compile(r"[*_]*QUESTION[*_\s]*:")
"""The colon may stand apart, as French sets it."""

FENCE: Final = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
"""What opens a code block; with a backtick further on in its line, it is code within a sentence."""


def question_in(text: str) -> str:
    """The question that a message ends in; empty when it doesn't.

    It is the last line that is not blank, begins with `QUESTION:`, bold or not, and says something. Within a
    code block it is someone else's.
    """
    lines = text.rstrip().splitlines()
    if not lines or lines[-1].startswith(("    ", "\t")) or _in_fence(lines):
        return ""
    line = lines[-1].strip()
    asks = ASKS.match(line)
    return line[asks.end() :].strip(" *_\N{NO-BREAK SPACE}") if asks else ""


def _in_fence(lines: list[str]) -> bool:
    """Whether the last line is within a fenced code block; one that is never closed goes on to the end."""
    open_fence = ""
    for line in lines:
        bare = line.strip()
        if not open_fence and (fence := FENCE.match(bare)):
            open_fence = fence[0]
        elif open_fence and bare.startswith(open_fence) and not bare.strip(bare[0]):
            open_fence = ""
    return bool(open_fence)
