"""Detection of a sub-agent's question at the end of its answer."""

import re
from typing import Final

MARKER: Final = re.compile(r"[*_]*QUESTION[*_\s]*:")
"""The marker of a question. French puts a space before the colon."""

FENCE: Final = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
"""The opening of a code block. With another backtick later in the line, it is inline code instead."""


def question_in(text: str) -> str:
    """Return the question at the end of a message; empty if there is none.

    A question is the last non-blank line, if it starts with `QUESTION:`, bold or not, followed by text. In a
    code block it does not count, because the agent may be quoting.
    """
    lines = text.rstrip().splitlines()
    if not lines or lines[-1].startswith(("    ", "\t")) or _in_fence(lines):
        return ""
    line = lines[-1].strip()
    marker = MARKER.match(line)
    return line[marker.end() :].strip(" *_\N{NO-BREAK SPACE}") if marker else ""


def _in_fence(lines: list[str]) -> bool:
    """Return True if the last line is in a fenced code block; an unclosed block extends to the end."""
    open_fence = ""
    for line in lines:
        bare = line.strip()
        if not open_fence and (fence := FENCE.match(bare)):
            open_fence = fence[0]
        elif open_fence and bare.startswith(open_fence) and not bare.strip(bare[0]):
            open_fence = ""
    return bool(open_fence)
