"""Conversion of workbooks to Markdown, row by row.

MarkItDown would load the whole workbook into memory and take six times as long.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from openpyxl import load_workbook

from cognition.documents.errors import DAMAGED, UnreadableFile, damaged
from cognition.documents.zip_limits import check_unpacked

OPENPYXL_ERRORS: Final = (*DAMAGED, LookupError, ValueError, TypeError, SyntaxError)
"""Errors that openpyxl raises for a damaged workbook; SyntaxError comes from lxml."""


def workbook_text(path: Path) -> Iterator[str]:
    """Yield a workbook as Markdown, with one table per sheet.

    Args:
        path: The file.

    Raises:
        UnreadableFile: If the workbook is damaged or too large once unpacked.
    """
    check_unpacked(path, streamed="xl/worksheets/")
    with path.open("rb") as file:  # given a path, openpyxl requires the extension .xlsx
        try:
            book = load_workbook(file, read_only=True, data_only=True)
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # otherwise every row, even an empty one, is as wide as the widest
                yield from _sheet(sheet.title, sheet.iter_rows(values_only=True))
            book.close()
        except UnreadableFile:  # is also a ValueError
            raise
        except OPENPYXL_ERRORS as error:
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
    """Return the cells of a row as text, without empty cells at the end."""
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
