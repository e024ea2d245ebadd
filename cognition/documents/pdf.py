"""The text layer of a PDF, page by page, and the pages that are pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Final

from pypdfium2 import PdfDocument, PdfiumError, PdfPage
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE, FPDFPage_CountObjects, FPDFPage_GetAnnotCount

from cognition.documents.errors import UnreadableFile, damaged
from cognition.documents.output import Extracted, write

STAMP: Final = 100
"""Characters of text that a scan may have: programs and archives print their name on its pages."""

PICTURE: Final = 0.5
"""The part of a page that a picture covers at least where the page is a scan."""

HYPHENS: Final = str.maketrans("", "", "\ufffe\x02")
"""What PDFium gives for the hyphen of a word that goes on in the next line."""


def write_pages(path: Path, into: Path, words: Mapping[int, str]) -> Extracted:
    """Write the pages of a PDF as Markdown, each under a heading with its number.

    Args:
        path: The file.
        into: The file to write.
        words: What stands in the place of a page that is a picture, by its number.

    Raises:
        UnreadableFile: It is protected by a password, or damaged.
        OSError: `into` can't be written.
    """
    document = _open(path)
    missing: list[int] = []

    def pages() -> Iterator[str]:
        for number in range(1, len(document) + 1):
            text, scanned = _read(document, number)
            if scanned and number in words:
                yield words[number]
                continue
            if text:
                yield f"## Page {number}\n\n{text}\n\n"
            if scanned:
                missing.append(number)

    return replace(write(pages(), path.name, into), pages=len(document), missing=tuple(missing))


def pages_of(path: Path, numbers: Sequence[int], most: int) -> bytes:
    """Pages of a PDF as one of their own.

    Args:
        path: The file.
        numbers: Of the pages, from 1.
        most: The most bytes that they may take.

    Raises:
        UnreadableFile: They take more, or are damaged.
    """
    pages, written = PdfDocument.new(), BytesIO()
    try:
        pages.import_pages(_open(path), [number - 1 for number in numbers])
        pages.save(written)
    except PdfiumError as error:
        raise damaged(path.name, error) from error
    if (size := written.tell()) > most:
        msg = (
            f"They take {size >> 20} MiB, and a model is sent {most >> 20}: give them as files of their own."
        )
        raise UnreadableFile(msg)
    return written.getvalue()


def _read(document: PdfDocument, number: int) -> tuple[str, bool]:
    """The text of a page, and whether it is a picture that has no more text than a stamp."""
    try:
        page = document[number - 1]
        layer = page.get_textpage()
    except PdfiumError:
        return "", True  # one damaged page: the others are read, and this one is among the missing
    text = str(layer.get_text_range()).replace("\r\n", "\n").translate(HYPHENS).strip()
    scanned = len(text) < STAMP and _is_scan(page) if text else not _is_blank(page)
    layer.close()
    page.close()
    return text, scanned


def _is_scan(page: PdfPage) -> bool:
    width, height = page.get_size()
    for picture in page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = picture.get_bounds()
        if (right - left) * (top - bottom) >= PICTURE * width * height:
            return True
    return False


def _is_blank(page: PdfPage) -> bool:
    return not FPDFPage_CountObjects(page) and not FPDFPage_GetAnnotCount(page)


def _open(path: Path) -> PdfDocument:
    try:
        return PdfDocument(path)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableFile(
                f"{path.name!r} is protected by a password. Save a copy without one."
            ) from error
        raise damaged(path.name, error) from error
