"""A file that holds no text for us."""

import zipfile
import zlib
from lzma import LZMAError
from typing import Final

from cognition.errors import InvalidInput

DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    UnicodeDecodeError,
)
"""What opening a part raises when the archive is damaged, encrypted, or packed in an unknown way."""


class UnreadableFile(InvalidInput):
    """A file that can't be read; the sentence says why and what to do."""


def damaged(name: str, error: object) -> UnreadableFile:
    """A file that its own library doesn't understand.

    Args:
        name: The file's name.
        error: What the library says.
    """
    said = str(error).strip().splitlines()[:1] or [type(error).__name__]
    return UnreadableFile(
        f"{name!r} is damaged ({said[0][:120]}). Open it in its own program and save it anew."
    )
