"""The Markdown outline at a position in a text: the headings above it and the code fence around it."""

import re
from typing import Final, NamedTuple

EDGES: Final = ("\n#", "\n```", "\n~~~")
LINE: Final = re.compile(r"^(?:(#{1,6})[ \t]+(\S[^\n]*)|(`{3,}|~{3,})([^\n]*))", re.MULTILINE)
MAX_TITLE: Final = 120
"""Maximum characters of a heading."""


class Mark(NamedTuple):
    """A heading, or the opening or closing line of a code fence.

    Attributes:
        at: Start of the line.
        level: Heading level, 1–6; 0 for a fence.
        title: Text of the heading.
        fence: Characters that open the fence, such as three backticks; empty for a closing line.
    """

    at: int
    level: int = 0
    title: str = ""
    fence: str = ""


class Outline:
    """The outline of a text up to the current position, which only moves forward."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._fence = ""

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above the current position, outermost first."""
        return tuple(title for _, title in self._path)

    def marks(self, text: str, begin: int, end: int) -> list[Mark]:
        """Return the headings and fence lines in a range that starts at the current position.

        Headings inside a fence do not count. A line with a single `#` counts only before a blank line, a
        lower heading or the end of the text; otherwise it is more likely a comment in code.
        """
        before = max(begin - 1, 0)
        if begin and not any(text.find(edge, before, end) >= 0 for edge in EDGES):
            return []
        marks = []
        fence = self._fence
        for match in LINE.finditer(text, begin, end):
            hashes, title, ticks, info = match.groups()
            if ticks and not fence and "`" not in info:
                fence = ticks
                marks.append(Mark(match.start(), fence=fence))
            elif ticks and fence and ticks.startswith(fence) and not info.strip():
                fence = ""
                marks.append(Mark(match.start()))
            elif hashes and not fence and (len(hashes) > 1 or _is_separate(text, match.end())):
                short_title = title.rstrip(" \t\r#")[:MAX_TITLE]
                marks.append(Mark(match.start(), len(hashes), short_title))
        return marks

    def advance(self, marks: list[Mark], end: int) -> None:
        """Move the current position to `end` and apply the marks before it."""
        for mark in marks:
            if mark.at >= end:
                return
            if mark.level:
                self._path = [heading for heading in self._path if heading[0] < mark.level]
                self._path.append((mark.level, mark.title))
            else:
                self._fence = mark.fence


def _is_separate(text: str, end: int) -> bool:
    following = text[end : end + 4].replace("\r", "")
    return following in ("", "\n") or following.startswith(("\n\n", "\n##"))
