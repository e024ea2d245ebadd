"""The output of text extraction."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cognition.documents.errors import UnreadableFile

MAX_TEXT: Final = 2 << 30
"""Maximum bytes of text from one file; a small workbook of empty cells can expand to any size."""


@dataclass(frozen=True)
class Extracted:
    """The result of extracting text, which is written as UTF-8 with Unix line ends.

    Attributes:
        text: True if there is text; False for scans, which only a model can read, and for blank files.
        chars: Length of the text in characters.
        size: Length of the text in bytes.
        pages: Number of pages of a PDF; 0 for other files.
        missing: Page numbers of a PDF's pages without text.
    """

    text: bool
    chars: int
    size: int
    pages: int = 0
    missing: tuple[int, ...] = ()


def write(pieces: Iterable[str], name: str, into: Path) -> Extracted:
    """Write a text in pieces.

    Args:
        pieces: The pieces of the text.
        name: Name of the source file, for the error message.
        into: The file to write; an existing file is replaced.

    Raises:
        UnreadableFile: If the text exceeds `MAX_TEXT` bytes.
        OSError: If `into` cannot be written.
    """
    chars = size = 0
    text = False
    with into.open("wb") as file:
        for piece in pieces:
            data = piece.encode("utf-8", "replace")
            file.write(data)
            chars, size, text = chars + len(piece), size + len(data), text or bool(piece.strip())
            if size > MAX_TEXT:
                raise UnreadableFile(f"{name!r} contains more than {MAX_TEXT >> 20} MiB of text. Split it.")
    return Extracted(text, chars, size)
