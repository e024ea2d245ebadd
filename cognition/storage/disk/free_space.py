"""A check for free disk space before writing."""

import shutil
from pathlib import Path
from typing import Final

from cognition.errors import Unavailable

MIN_FREE_BYTES: Final = 32 << 20
"""Free bytes required for a write: more than the largest single write, plus a margin for other programs."""


class DiskFull(Unavailable):
    """Not enough disk space to write safely. The message names the folder; nothing was changed."""


def require_free_space(folder: Path) -> None:
    """Check that there is enough disk space to write safely. Blocking.

    Args:
        folder: The folder to write to; need not exist yet.

    Raises:
        DiskFull: If less than `MIN_FREE_BYTES` is free.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if (free := shutil.disk_usage(existing).free) < MIN_FREE_BYTES:
        msg = (
            f"Not enough disk space for {str(folder)!r}: {free >> 20} MB free, {MIN_FREE_BYTES >> 20} MB "
            "needed. Free some space and try again; nothing was changed."
        )
        raise DiskFull(msg)
