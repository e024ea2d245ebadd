"""The files that a line names: typed, or dragged onto the terminal."""

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

LONGEST_LINE: Final = 4_000
"""Characters beyond which a line is pasted text, in which paths mean nothing."""

MOST_WORDS: Final = 12
"""Of a path with spaces that are not quoted."""

AFTER: Final = ".,;:!?)]}»”\"'…"
"""What may stand behind a path and not belong to it."""

WORD: Final = re.compile(r"""@?"[^"]+"|@?'[^']+'|(?:\\.|\S)+""")


@dataclass(frozen=True)
class Line:
    """A line as it is said.

    Attributes:
        text: With the name of each file in the place of its path.
        paths: The files, each once.
        missing: A sentence for each path that is none of a file; its text stays as it was typed.
    """

    text: str
    paths: list[Path]
    missing: list[str]


def read_line(line: str, *, bare: bool) -> Line:
    """Find the existing files that a line names. Blocking.

    Args:
        line: What was typed.
        bare: Whether a path counts without `@` before it; it must hold a separator or a suffix then, so that
            a plain word is never taken for a file.
    """
    if len(line) > LONGEST_LINE:
        return Line(line, [], [])
    words = list(WORD.finditer(line))
    text, at, index = "", 0, 0
    paths: list[Path] = []
    missing: list[str] = []
    while index < len(words):
        start = words[index].start()
        for last in range(min(len(words), index + MOST_WORDS) - 1, index - 1, -1):
            if found := _file(line[start : words[last].end()], bare):
                path, rest = found
                text += line[at:start] + path.name + rest
                at, index = words[last].end(), last
                paths.append(path)
                break
        else:
            missing += _missing(words[index][0], bare and index == 0)
        index += 1
    return Line(text + line[at:], list(dict.fromkeys(paths)), missing)


def _file(said: str, bare: bool) -> tuple[Path, str] | None:
    """The file that some words are the path of, and what stands behind it."""
    marked = said.startswith("@")
    if not marked and not bare:
        return None
    whole = said[1:] if marked else said
    shorter = whole.rstrip(AFTER)
    for candidate in dict.fromkeys((whole, shorter, shorter + whole[len(shorter) : len(shorter) + 1])):
        path = os.path.expanduser(_unquoted(candidate))
        named = marked or os.sep in path or Path(path).suffix
        if named and os.path.isfile(path):
            return Path(path), whole[len(candidate) :]
    return None


def _missing(word: str, leads: bool) -> list[str]:
    """Why a word that can only be meant as a path is none of a file; nothing for any other word.

    Args:
        word: One that is no file's path.
        leads: Whether a path counts without a mark, for the line begins with it.
    """
    marked = word.startswith("@")
    path = os.path.expanduser(_unquoted(word[1:] if marked else word)).rstrip(AFTER)
    if not (marked or (leads and path.startswith(os.sep) and os.sep in path[1:])):
        return []
    if os.path.isdir(path):
        return [f"{path!r} is a folder: name a file in it, or give them all with `cognition ingest -r`."]
    if os.path.exists(path):
        return [f"{path!r} is no regular file: name one."]
    if os.sep in path or Path(path).suffix:  # else it may be anybody's name
        return [f"There is no file at {path!r}: look at how it is spelled."]
    return []


def _unquoted(said: str) -> str:
    """A path without the quotes, backslashes or scheme that a shell or a terminal puts there."""
    if said.startswith("file://"):
        return unquote(urlsplit(said).path)
    if said[:1] in ("'", '"') and said[-1:] == said[:1]:
        return said[1:-1]
    if "\\" not in said:
        return said
    try:
        return " ".join(shlex.split(said))
    except ValueError:
        return said
