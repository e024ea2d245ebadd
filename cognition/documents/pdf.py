"""The text layer of a PDF, page by page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from pypdfium2 import PdfDocument, PdfiumError

from cognition.documents.extracted import Extracted, write
from cognition.documents.unreadable import Unreadable, damaged

HYPHENS: Final = str.maketrans("", "", "\ufffe\x02")
"""What PDFium gives for the hyphen of a word that goes on in the next line."""


def write_pages(path: Path, into: Path) -> Extracted:
    """Write the pages of a PDF that have text as Markdown, each under a heading with its number.

    Args:
        path: The file.
        into: The file to write.

    Raises:
        Unreadable: It is protected by a password, or damaged.
        OSError: `into` can't be written.
    """
    document = _open(path)
    missing: list[int] = []

    def pages() -> Iterator[str]:
        for number in range(1, len(document) + 1):
            if text := _text(document, number):
                yield f"## Page {number}\n\n{text}\n\n"
            else:
                missing.append(number)

    return replace(write(pages(), path.name, into), pages=len(document), missing=tuple(missing))


def _text(document: PdfDocument, number: int) -> str:
    try:
        page = document[number - 1]
        layer = page.get_textpage()
    except PdfiumError:
        return ""  # one damaged page: the others are read, and this one is among the missing
    text = layer.get_text_range()
    layer.close()
    page.close()
    return str(text).replace("\r\n", "\n").translate(HYPHENS).strip()


def _open(path: Path) -> PdfDocument:
    try:
        return PdfDocument(path)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable(f"{path.name!r} is protected by a password. Save a copy without one.") from error
        raise damaged(path.name, error) from error
