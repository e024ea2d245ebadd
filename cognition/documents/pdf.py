"""The text layer of a PDF, page by page."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cognition.documents.unreadable import Unreadable, damaged

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_pdfium: Final = threading.Lock()
"""PDFium is not safe for threads: whoever calls it holds this, a page at a time."""

HYPHENS: Final = str.maketrans("", "", "\ufffe\x02")
"""What PDFium gives for the hyphen of a word that goes on in the next line."""


class PdfText:
    """The pages of a PDF as Markdown, each under a heading with its number.

    Attributes:
        pages: How many there are.
        missing: Numbers of those without text, once the pages were read.

    Args:
        path: The file.

    Raises:
        Unreadable: It is protected by a password, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.missing: list[int] = []
        self._document = _open(path)
        with _pdfium:
            self.pages = len(self._document)

    def read(self) -> Iterator[str]:
        """The pages that have text, in order; closes the file at the end."""
        try:
            for number in range(1, self.pages + 1):
                if text := self._text(number):
                    yield f"## Page {number}\n\n{text}\n\n"
                else:
                    self.missing.append(number)
        finally:
            with _pdfium:
                self._document.close()

    def _text(self, number: int) -> str:
        from pypdfium2 import PdfiumError  # noqa: PLC0415 - loaded by `_open`

        with _pdfium:
            try:
                page = self._document[number - 1]
                layer = page.get_textpage()
            except PdfiumError:
                return ""  # one damaged page: the others are read, and this one is among the missing
            text = layer.get_text_range()
            layer.close()
            page.close()
        return str(text).replace("\r\n", "\n").translate(HYPHENS).strip()


def _open(path: Path) -> "PdfDocument":
    from pypdfium2 import PdfDocument, PdfiumError  # noqa: PLC0415 - PDFium is for PDFs only

    try:
        with _pdfium:
            return PdfDocument(path)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable(f"{path.name!r} is protected by a password. Save a copy without one.") from error
        raise damaged(path.name, error) from error
