"""Errors about files whose text cannot be extracted."""

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
"""Errors raised for an archive member that is damaged, encrypted, or uses an unsupported compression."""


class UnreadableFile(InvalidInput):
    """A file that cannot be read. The message says why and what to do."""


def damaged(name: str, error: object) -> UnreadableFile:
    """Return the error for a file that its library cannot parse.

    Args:
        name: The file's name.
        error: The library's error or message.
    """
    first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return UnreadableFile(
        f"{name!r} is damaged ({first_line[:120]}). Open it in its application and save it again."
    )
