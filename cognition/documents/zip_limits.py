"""Protection against zip bombs.

The declared sizes are checked before a document is unpacked, and no part unpacks to more than it declares.
"""

import zipfile
from pathlib import Path
from typing import Final

from cognition.documents.errors import UnreadableFile, damaged

MAX_UNPACKED: Final = 256 << 20
"""Maximum bytes of a document once unpacked."""
MAX_MARKUP: Final = 32 << 20
"""Maximum bytes of markup, which takes 25 to 60 times its size in memory. Streamed parts do not count."""

MAX_MEDIA_RATIO: Final = 20
"""Maximum compression ratio of images and sound; a part with a higher ratio counts as markup."""

MAX_PARTS: Final = 20_000
"""Maximum number of parts of a document."""


def check_unpacked(path: Path, *, streamed: str = "") -> None:
    """Check that a document is not a zip bomb.

    Args:
        path: The document.
        streamed: The folder in the archive whose parts are read row by row; empty if there is none.

    Raises:
        UnreadableFile: If the document is damaged or too large once unpacked.
    """
    parts = parts_of(path)
    unpacked = sum(part.file_size for part in parts)
    loaded = [part for part in parts if not (streamed and part.filename.startswith(streamed))]
    markup = sum(part.file_size for part in loaded if _is_markup(part))
    if unpacked > MAX_UNPACKED or markup > MAX_MARKUP or len(parts) > MAX_PARTS:
        msg = (
            f"{path.name!r} unpacks to {unpacked >> 20} MiB in {len(parts)} parts, {markup >> 20} MiB of it "
            f"markup. The limits are {MAX_UNPACKED >> 20} MiB, {MAX_PARTS} parts and {MAX_MARKUP >> 20} MiB "
            "of markup. Split it, or save it as PDF or text."
        )
        raise UnreadableFile(msg)


def parts_of(path: Path) -> list[zipfile.ZipInfo]:
    """Return the parts of an archive, as listed in its central directory.

    Raises:
        UnreadableFile: If the archive is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except zipfile.BadZipFile as error:
        raise damaged(path.name, "its ZIP directory is missing or broken") from error


def _is_markup(part: zipfile.ZipInfo) -> bool:
    """Return True if a part may be parsed as markup: by its name, or by a ratio too high for media.

    The name alone is not enough, because a document can refer to markup under any name.
    """
    has_markup_name = part.filename.endswith((".xml", ".rels", "html", ".htm"))
    return has_markup_name or part.file_size > part.compress_size * MAX_MEDIA_RATIO
