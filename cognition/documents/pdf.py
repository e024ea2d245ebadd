"""Reading of PDFs: the text layer of each page, and the detection of scanned pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Final

from pypdfium2 import PdfDocument, PdfiumError, PdfPage
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE, FPDFPage_CountObjects, FPDFPage_GetAnnotCount

from cognition.documents.errors import UnreadableFile, damaged
from cognition.documents.output import Extracted, write

MAX_STAMP: Final = 100
"""Maximum characters of text on a scanned page: scanners and archives print their name on the pages."""

MIN_IMAGE_SHARE: Final = 0.5
"""Minimum share of a scanned page that one image covers."""

HYPHENS: Final = str.maketrans("", "", "\ufffe\x02")
"""Removes the characters that PDFium returns for a hyphen at the end of a line."""


def write_pages(path: Path, into: Path, transcribed: Mapping[int, str]) -> Extracted:
    """Write the pages of a PDF as Markdown, each under a heading with its number.

    Args:
        path: The file.
        into: The file to write.
        transcribed: Texts to write instead of scanned pages, by page number.

    Raises:
        UnreadableFile: If the PDF is protected by a password or damaged.
        OSError: If `into` cannot be written.
    """
    document = _open(path)
    missing: list[int] = []

    def pages() -> Iterator[str]:
        for number in range(1, len(document) + 1):
            text, scanned = _read(document, number)
            if scanned and number in transcribed:
                yield transcribed[number]
                continue
            if text:
                yield f"## Page {number}\n\n{text}\n\n"
            if scanned:
                missing.append(number)

    return replace(write(pages(), path.name, into), pages=len(document), missing=tuple(missing))


def pages_of(path: Path, numbers: Sequence[int], limit: int) -> bytes:
    """Return some pages of a PDF as a new PDF.

    Args:
        path: The file.
        numbers: Page numbers, from 1.
        limit: Maximum size of the new PDF in bytes.

    Raises:
        UnreadableFile: If the pages exceed the limit or are damaged.
    """
    pages, output = PdfDocument.new(), BytesIO()
    try:
        pages.import_pages(_open(path), [number - 1 for number in numbers])
        pages.save(output)
    except PdfiumError as error:
        raise damaged(path.name, error) from error
    if (size := output.tell()) > limit:
        msg = (
            f"The pages take {size >> 20} MiB; the limit for a model request is {limit >> 20} MiB. "
            "Add them as separate files."
        )
        raise UnreadableFile(msg)
    return output.getvalue()


def _read(document: PdfDocument, number: int) -> tuple[str, bool]:
    """Return the text of a page, and True if the page is a scan with no more text than a stamp."""
    try:
        page = document[number - 1]
        layer = page.get_textpage()
    except PdfiumError:
        return "", True  # report a damaged page as missing and read the others
    text = str(layer.get_text_range()).replace("\r\n", "\n").translate(HYPHENS).strip()
    scanned = len(text) < MAX_STAMP and _is_scan(page) if text else not _is_blank(page)
    layer.close()
    page.close()
    return text, scanned


def _is_scan(page: PdfPage) -> bool:
    width, height = page.get_size()
    for picture in page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = picture.get_bounds()
        if (right - left) * (top - bottom) >= MIN_IMAGE_SHARE * width * height:
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
