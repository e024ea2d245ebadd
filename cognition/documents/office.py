"""Office files, books and web pages as Markdown."""

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Final

from cognition.documents.conversion import LONGEST, converted, too_slow
from cognition.documents.encoding import encoding_of, read_text
from cognition.documents.kind import DAMAGED, Kind
from cognition.documents.unreadable import Unreadable, damaged

LARGEST_UNPACKED: Final = 256 << 20
LARGEST_MARKUP: Final = 32 << 20
"""Bytes of markup that are held at once, 25 to 60 times as large; the rows of a workbook are not."""

PICTURE_RATIO: Final = 20
"""How many times smaller a part gets that is no picture or sound."""

MOST_PARTS: Final = 20_000

BROKEN: Final = (*DAMAGED, LookupError, ValueError, TypeError, SyntaxError)
"""What openpyxl raises for a damaged workbook; the last is lxml's."""

SLIDE: Final = re.compile(r"<!-- Slide number: (\d+) -->\s*(?:# ?(.*))?")


def office_text(path: Path, kind: Kind) -> Iterator[str]:
    """A document as Markdown, in pieces.

    Args:
        path: The file.
        kind: What it is: `docx`, `pptx`, `xlsx`, `epub` or `html`.

    Raises:
        Unreadable: It is damaged, too large once unpacked, or takes too long.
    """
    if kind.label == "html":
        return iter([_web_page(path)])
    _check_unpacked(path, kind)
    if kind.label == "xlsx":
        return _workbook(path)
    markdown = converted(path.read_bytes(), path.name, kind.label)
    return iter([SLIDE.sub(_slide, markdown) if kind.label == "pptx" else markdown])


def _check_unpacked(path: Path, kind: Kind) -> None:
    """Refuse a zip bomb by what it says of itself, before anything unpacks it; more is never unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except zipfile.BadZipFile as error:
        raise damaged(path.name, error) from error
    unpacked = sum(part.file_size for part in parts)
    markup = sum(part.file_size for part in parts if _is_markup(part, kind))
    if unpacked > LARGEST_UNPACKED or markup > LARGEST_MARKUP or len(parts) > MOST_PARTS:
        msg = (
            f"{path.name!r} unpacks to {unpacked >> 20} MiB in {len(parts)} parts, {markup >> 20} MiB of it "
            f"markup; {LARGEST_UNPACKED >> 20} MiB in {MOST_PARTS} parts and {LARGEST_MARKUP >> 20} MiB are "
            "the most that is opened. Split it, or save it as PDF or text."
        )
        raise Unreadable(msg)


def _is_markup(part: zipfile.ZipInfo, kind: Kind) -> bool:
    """Whether a part is held as a tree, or may be: its name binds nobody, and pictures don't shrink so."""
    if kind.label == "xlsx" and part.filename.startswith("xl/worksheets/"):
        return False
    named = part.filename.endswith((".xml", ".rels", "html", ".htm"))
    return named or part.file_size > part.compress_size * PICTURE_RATIO


def _web_page(path: Path) -> str:
    size = path.stat().st_size
    if size > LARGEST_MARKUP:
        msg = (
            f"{path.name!r} has {size >> 20} MiB; web pages are read up to {LARGEST_MARKUP >> 20} MiB. "
            "Split it, or save it as text."
        )
        raise Unreadable(msg)
    text = "".join(read_text(path, encoding_of(path) or "utf-8"))
    return converted(text.encode("utf-8", "replace"), path.name, "html")


def _slide(match: re.Match[str]) -> str:
    number, title = match.groups()
    return f"## Slide {number}: {title}\n" if title else f"## Slide {number}\n"


def _workbook(path: Path) -> Iterator[str]:
    """A workbook row by row; MarkItDown holds it whole, takes six times as long, and writes NaN for empty."""
    from openpyxl import load_workbook  # noqa: PLC0415 - for workbooks only

    ends = monotonic() + LONGEST
    with path.open("rb") as file:  # by its path, it would have to be called .xlsx
        try:
            book = load_workbook(file, read_only=True, data_only=True)
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # else every row is as wide as the widest, and the empty ones too
                rows = sheet.iter_rows(values_only=True)
                yield from _sheet(sheet.title, _in_time(rows, path.name, ends))
            book.close()
        except Unreadable:  # a ValueError as well
            raise
        except BROKEN as error:
            raise damaged(path.name, error) from error


def _in_time(rows: Iterable[Sequence[object]], name: str, ends: float) -> Iterator[Sequence[object]]:
    for row in rows:
        if monotonic() > ends:
            raise too_slow(name, LONGEST)
        yield row


def _sheet(title: str, rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"## {title}\n\n"
    width = 0
    for row in rows:
        cells = _cells(row)
        if not cells:
            continue
        yield f"| {' | '.join(cells)} |\n"
        if not width:
            width = len(cells)
            yield f"|{' --- |' * width}\n"
    yield "\n"


def _cells(row: Sequence[object]) -> list[str]:
    """The cells of a row as text, without the empty ones at its end."""
    width = len(row)
    while width and row[width - 1] is None:
        width -= 1
    cells = [_cell(value) for value in row[:width]]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return " ".join(str(value).split()).replace("|", "\\|")
