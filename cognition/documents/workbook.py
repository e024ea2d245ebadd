"""Workbooks as Markdown, row by row; MarkItDown holds them whole, and takes six times as long."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from openpyxl import load_workbook

from cognition.documents.errors import DAMAGED, UnreadableFile, damaged
from cognition.documents.zip_limits import check_unpacked

BROKEN: Final = (*DAMAGED, LookupError, ValueError, TypeError, SyntaxError)
"""What openpyxl raises for a damaged workbook; the last is lxml's."""


def workbook_text(path: Path) -> Iterator[str]:
    """A workbook as a table for each sheet.

    Args:
        path: The file.

    Raises:
        UnreadableFile: It is damaged, or too large once unpacked.
    """
    check_unpacked(path, rows="xl/worksheets/")
    with path.open("rb") as file:  # by its path, it would have to be called .xlsx
        try:
            book = load_workbook(file, read_only=True, data_only=True)
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # else every row is as wide as the widest, and the empty ones too
                yield from _sheet(sheet.title, sheet.iter_rows(values_only=True))
            book.close()
        except UnreadableFile:  # a ValueError as well
            raise
        except BROKEN as error:
            raise damaged(path.name, error) from error


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
