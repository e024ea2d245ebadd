"""Files mentioned in a line, typed or dragged onto the terminal."""

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

LONGEST_LINE: Final = 4_000
"""Maximum length of a line that is searched for paths, in characters. Longer lines are pasted text."""

MOST_WORDS: Final = 12
"""Maximum number of words in a path with unquoted spaces."""

AFTER: Final = ".,;:!?)]}»”\"'…"
"""Punctuation that may follow a path without belonging to it."""

WORD: Final = re.compile(r"""@?"[^"]+"|@?'[^']+'|(?:\\.|\S)+""")


@dataclass(frozen=True)
class Line:
    """A line of the user, with the files it mentions.

    Attributes:
        text: The line, with each path replaced by the file's name.
        paths: The paths of the files, without duplicates.
        missing: A message for each path that is not a file. Its text is left unchanged.
    """

    text: str
    paths: list[Path]
    missing: list[str]


def read_line(line: str, *, bare: bool) -> Line:
    """Find the existing files that a line mentions. Blocking.

    Args:
        line: The line as typed.
        bare: True to accept paths without a leading `@`. They need a separator or a suffix, so that a
            plain word is not taken for a file.
    """
    if len(line) > LONGEST_LINE:
        return Line(line, [], [])
    words = list(WORD.finditer(line))
    text, position, index = "", 0, 0
    paths: list[Path] = []
    missing: list[str] = []
    while index < len(words):
        start = words[index].start()
        for last in range(min(len(words), index + MOST_WORDS) - 1, index - 1, -1):
            if match := _file(line[start : words[last].end()], bare):
                path, rest = match
                text += line[position:start] + path.name + rest
                position, index = words[last].end(), last
                paths.append(path)
                break
        else:
            missing += _missing(words[index][0], bare and index == 0)
        index += 1
    return Line(text + line[position:], list(dict.fromkeys(paths)), missing)


def _file(words: str, bare: bool) -> tuple[Path, str] | None:
    """Return the file that the words name, and the punctuation after its path."""
    marked = words.startswith("@")
    if not marked and not bare:
        return None
    whole = words[1:] if marked else words
    shorter = whole.rstrip(AFTER)
    for candidate in dict.fromkeys((whole, shorter, shorter + whole[len(shorter) : len(shorter) + 1])):
        path = os.path.expanduser(_unquote(candidate))
        path_like = marked or os.sep in path or Path(path).suffix
        if path_like and os.path.isfile(path):
            return Path(path), whole[len(candidate) :]
    return None


def _missing(word: str, bare: bool) -> list[str]:
    """Return a message if a word is clearly meant as a path, otherwise nothing.

    Args:
        word: A word that is not the path of a file.
        bare: True if the word may be a path without a leading `@`, because it starts the line.
    """
    marked = word.startswith("@")
    path = os.path.expanduser(_unquote(word[1:] if marked else word)).rstrip(AFTER)
    if not (marked or (bare and path.startswith(os.sep) and os.sep in path[1:])):
        return []
    if os.path.isdir(path):
        return [f"{path!r} is a folder. Give a file in it, or add all its files with `cognition ingest -r`."]
    if os.path.exists(path):
        return [f"{path!r} is not a regular file. Give the path of a regular file."]
    if os.sep in path or Path(path).suffix:  # otherwise it may be a mention of a person
        return [f"There is no file at {path!r}. Check the path."]
    return []


def _unquote(text: str) -> str:
    """Remove the quotes, backslashes or URL scheme that a shell or a terminal adds to a path."""
    if text.startswith("file://"):
        return unquote(urlsplit(text).path)
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        return text[1:-1]
    if "\\" not in text:
        return text
    try:
        return " ".join(shlex.split(text))
    except ValueError:
        return text
