"""Whether the disk has room for another write."""

import shutil
from pathlib import Path
from typing import Final

from cognition.errors import Unavailable

LEAST_BYTES: Final = 32 << 20
"""More than the largest single write, beside what other programs may take meanwhile."""


class DiskFull(Unavailable):
    """There is too little room to write safely; the message says where and how much. Nothing was changed."""


def require_room(folder: Path) -> None:
    """Refuse to write where the room might not do; blocking.

    Args:
        folder: One that is there, or whose nearest parent is.

    Raises:
        DiskFull: There is too little.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if (free := shutil.disk_usage(there).free) < LEAST_BYTES:
        msg = (
            f"The disk of {str(folder)!r} has {free >> 20} MB left, and {LEAST_BYTES >> 20} MB are needed: "
            "make some room and try again. Nothing was changed."
        )
        raise DiskFull(msg)
