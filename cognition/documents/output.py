"""The text of a file, written to another one."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cognition.documents.errors import UnreadableFile

LONGEST_TEXT: Final = 2 << 30
"""Bytes of the text of a file: a table of empty cells is small until it is written out."""


@dataclass(frozen=True)
class Extracted:
    """What was written of a file, in UTF-8 with the line ends of Unix.

    Attributes:
        text: Whether there is any; False for scans and blank files, which a model would have to look at.
        chars: Its length in characters.
        size: Its length in bytes.
        pages: Pages of a PDF, else 0.
        missing: Numbers of a PDF's pages that hold no text.
    """

    text: bool
    chars: int
    size: int
    pages: int = 0
    missing: tuple[int, ...] = ()


def write(pieces: Iterable[str], name: str, into: Path) -> Extracted:
    """Write a text piece by piece.

    Args:
        pieces: Its pieces.
        name: What people call the file that they are of.
        into: The file to write; replaced when it is there.

    Raises:
        UnreadableFile: There is too much of it.
        OSError: `into` can't be written.
    """
    chars = size = 0
    text = False
    with into.open("wb") as file:
        for piece in pieces:
            data = piece.encode("utf-8", "replace")
            file.write(data)
            chars, size, text = chars + len(piece), size + len(data), text or bool(piece.strip())
            if size > LONGEST_TEXT:
                raise UnreadableFile(f"{name!r} holds more than {LONGEST_TEXT >> 20} MiB of text. Split it.")
    return Extracted(text, chars, size)
