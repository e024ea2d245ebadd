"""Text extraction: write the text of a file to another file as UTF-8 text or Markdown."""

import mmap
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from cognition.documents.encoding import encoding_of, read_text
from cognition.documents.errors import UnreadableFile
from cognition.documents.file_type import Kind
from cognition.documents.isolation import convert
from cognition.documents.output import Extracted, write
from cognition.documents.zip_limits import parts_of

__all__ = ["DOCUMENT_THREADS", "Extracted", "UnreadableFile", "extract"]

DOCUMENT_THREADS: Final = ThreadPoolExecutor(2, thread_name_prefix="documents")
"""Threads for reading documents. A document can take minutes, which must not keep asyncio's default threads
from searches."""

STREAMED_LIMITS: Final = {"text": 1 << 30, "pdf": 1 << 30}
"""Maximum bytes of files that are read in pieces."""
DOCUMENT_LIMIT: Final = 256 << 20
"""Maximum bytes of other documents."""

ARCHIVES: Final = ("7z", "bz2", "gz", "lz", "rar", "tar", "xz", "zip", "zst")
ENCRYPTED_STREAM: Final = "EncryptedPackage".encode("utf-16-le")
"""The name of the stream that contains a password-protected Office file."""


def extract(path: Path, kind: Kind, into: Path, transcribed: Mapping[int, str] | None = None) -> Extracted:
    """Write the text of a file to `into`. Blocking, possibly for minutes.

    Text files are streamed in this process; documents are read in a separate process.

    Args:
        path: The file.
        kind: Its kind, from `kind_of`.
        into: The file to write; an existing file is replaced.
        transcribed: Texts to insert for the pages of a PDF that have no text, by page number.

    Raises:
        UnreadableFile: If the file is empty, encrypted, damaged, too large, or of a kind without text.
        OSError: If the file cannot be read or `into` cannot be written.
    """
    _check(path, kind)
    if kind.resource_type == "document":
        return convert(path, kind.label, into, transcribed)
    encoding = encoding_of(path)
    if encoding is None:
        raise UnreadableFile(f"{path.name!r} is not text in a known encoding. Save it as UTF-8.")
    return write(read_text(path, encoding), path.name, into)


def _check(path: Path, kind: Kind) -> None:
    name, size = path.name, path.stat().st_size
    if not size:
        raise UnreadableFile(f"{name!r} is empty. Check that it was saved or uploaded completely.")
    limit = STREAMED_LIMITS.get(kind.label, STREAMED_LIMITS.get(kind.resource_type, DOCUMENT_LIMIT))
    if kind.resource_type in ("text", "document"):
        if size > limit:
            msg = (
                f"{name!r} is {size >> 20} MiB; the limit for {kind.label} files is {limit >> 20} MiB. "
                "Split it."
            )
            raise UnreadableFile(msg)
        return
    if kind.label == "zip":
        parts_of(path)  # raises for a damaged archive
    if kind.label == "ole" and _contains(path, ENCRYPTED_STREAM):
        raise UnreadableFile(f"{name!r} is protected by a password. Save a copy without one.")
    msg = {
        "ole": f"{name!r} is in a pre-2007 Office format. Save it as DOCX, XLSX, PPTX or PDF.",
        "opendocument": f"{name!r} is an OpenDocument file. Save it as DOCX, XLSX, PPTX or PDF.",
        "archive": f"{name!r} is an archive, and archives are not unpacked. Add the files inside it instead.",
    }.get(
        "archive" if kind.label in ARCHIVES else kind.label,
        f"{name!r} is of type {kind.mime}, which contains no text. Save it as PDF, Markdown or plain text.",
    )
    raise UnreadableFile(msg)


def _contains(path: Path, pattern: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(pattern) >= 0
