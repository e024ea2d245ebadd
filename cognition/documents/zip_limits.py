"""What a packed document says of itself, before anything unpacks it; more than it says is never unpacked."""

import zipfile
from pathlib import Path
from typing import Final

from cognition.documents.errors import UnreadableFile, damaged

LARGEST_UNPACKED: Final = 256 << 20
LARGEST_MARKUP: Final = 32 << 20
"""Bytes of markup that are held at once, 25 to 60 times as large; the rows of a workbook are not."""

PICTURE_RATIO: Final = 20
"""How many times smaller a part gets that is no picture or sound."""

MOST_PARTS: Final = 20_000


def check_unpacked(path: Path, *, rows: str = "") -> None:
    """Refuse a zip bomb.

    Args:
        path: The document.
        rows: The folder in it whose parts are read row by row; empty for none.

    Raises:
        UnreadableFile: It is damaged, or too large once unpacked.
    """
    parts = parts_of(path)
    unpacked = sum(part.file_size for part in parts)
    held = [part for part in parts if not (rows and part.filename.startswith(rows))]
    markup = sum(part.file_size for part in held if _is_markup(part))
    if unpacked > LARGEST_UNPACKED or markup > LARGEST_MARKUP or len(parts) > MOST_PARTS:
        msg = (
            f"{path.name!r} unpacks to {unpacked >> 20} MiB in {len(parts)} parts, {markup >> 20} MiB of it "
            f"markup; {LARGEST_UNPACKED >> 20} MiB in {MOST_PARTS} parts and {LARGEST_MARKUP >> 20} MiB are "
            "the most that is opened. Split it, or save it as PDF or text."
        )
        raise UnreadableFile(msg)


def parts_of(path: Path) -> list[zipfile.ZipInfo]:
    """The parts of an archive, as it lists them at its end.

    Raises:
        UnreadableFile: It is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except zipfile.BadZipFile as error:
        raise damaged(path.name, "the list of its parts is missing or broken") from error


def _is_markup(part: zipfile.ZipInfo) -> bool:
    """Whether a part is held as a tree, or may be: its name binds nobody, and pictures don't shrink so."""
    named = part.filename.endswith((".xml", ".rels", "html", ".htm"))
    return named or part.file_size > part.compress_size * PICTURE_RATIO
