"""The Markdown over a place in a text: its headings, and the code fence that it may be in."""

import re
from typing import Final, NamedTuple

EDGES: Final = ("\n#", "\n```", "\n~~~")
LINE: Final = re.compile(r"^(?:(#{1,6})[ \t]+(\S[^\n]*)|(`{3,}|~{3,})([^\n]*))", re.MULTILINE)
LONGEST_TITLE: Final = 120


class Mark(NamedTuple):
    """A line that shapes what follows: a heading, or the edge of a code fence.

    Attributes:
        at: Where the line begins.
        level: 1–6 for a heading, 0 for an edge.
        title: The heading's text.
        fence: What an edge opens, such as three backticks; empty when it closes.
    """

    at: int
    level: int = 0
    title: str = ""
    fence: str = ""


class Outline:
    """Follows a text from its beginning."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._fence = ""

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings over the place reached, outermost first."""
        return tuple(title for _, title in self._path)

    def marks(self, text: str, begin: int, end: int) -> list[Mark]:
        """The headings and fence edges of a range that begins where the last advance ended.

        What looks like one inside a fence is neither. Nor is a comment: a line with a single `#` is a heading
        only where a blank line or the end follows, as code puts its comments right above what they explain.
        """
        before = max(begin - 1, 0)
        if begin and not any(text.find(edge, before, end) >= 0 for edge in EDGES):
            return []
        found = []
        fence = self._fence
        for match in LINE.finditer(text, begin, end):
            hashes, title, ticks, info = match.groups()
            if ticks and not fence and "`" not in info:
                fence = ticks
                found.append(Mark(match.start(), fence=fence))
            elif ticks and fence and ticks.startswith(fence) and not info.strip():
                fence = ""
                found.append(Mark(match.start()))
            elif hashes and not fence and (len(hashes) > 1 or _stands_alone(text, match.end())):
                shown = title.rstrip(" \t\r#")[:LONGEST_TITLE]
                found.append(Mark(match.start(), len(hashes), shown))
        return found

    def advance(self, marks: list[Mark], end: int) -> None:
        """Go on to `end`, past the marks before it."""
        for mark in marks:
            if mark.at >= end:
                return
            if mark.level:
                self._path = [over for over in self._path if over[0] < mark.level]
                self._path.append((mark.level, mark.title))
            else:
                self._fence = mark.fence


def _stands_alone(text: str, end: int) -> bool:
    following = text[end : end + 4].replace("\r", "")
    return following in ("", "\n") or following.startswith(("\n\n", "\n##"))
