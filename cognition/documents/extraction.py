"""The text of a file as UTF-8 or Markdown in another file."""

import mmap
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from cognition.documents.encoding import encoding_of, read_text
from cognition.documents.errors import UnreadableFile
from cognition.documents.file_type import Kind
from cognition.documents.isolation import converted
from cognition.documents.output import Extracted, write
from cognition.documents.zip_limits import parts_of

__all__ = ["DOCUMENT_THREADS", "Extracted", "UnreadableFile", "extract"]

DOCUMENT_THREADS: Final = ThreadPoolExecutor(2, thread_name_prefix="documents")
"""Where documents are read: they take minutes, and asyncio's own threads have to be free for searches."""

LARGEST: Final = {"text": 1 << 30, "pdf": 1 << 30}
"""Bytes of a file that is read piece by piece."""
LARGEST_DOCUMENT: Final = 256 << 20

ARCHIVES: Final = ("7z", "bz2", "gz", "lz", "rar", "tar", "xz", "zip", "zst")
LOCKED: Final = "EncryptedPackage".encode("utf-16-le")
"""The stream that holds an office file with a password."""


def extract(path: Path, kind: Kind, into: Path, words: Mapping[int, str] | None = None) -> Extracted:
    """Write the text of a file to `into`. Blocks, for minutes where the file is large.

    Texts are read here, piece by piece whatever their size; documents in a process of their own.

    Args:
        path: The file.
        kind: What it is, from `kind_of`.
        into: The file to write; replaced when it is there.
        words: What stands in the place of a PDF's pages without text, by their numbers.

    Raises:
        UnreadableFile: It is empty, encrypted, damaged, too large, or of a kind without text.
        OSError: It can't be read, or `into` can't be written.
    """
    _check(path, kind)
    if kind.resource_type == "document":
        return converted(path, kind.label, into, words)
    encoding = encoding_of(path)
    if encoding is None:
        raise UnreadableFile(f"{path.name!r} is not text in any encoding known here. Save it as UTF-8.")
    return write(read_text(path, encoding), path.name, into)


def _check(path: Path, kind: Kind) -> None:
    name, size = path.name, path.stat().st_size
    if not size:
        raise UnreadableFile(f"{name!r} is empty. Check that it was saved or uploaded whole.")
    most = LARGEST.get(kind.label, LARGEST.get(kind.resource_type, LARGEST_DOCUMENT))
    if kind.resource_type in ("text", "document"):
        if size > most:
            msg = f"{name!r} has {size >> 20} MiB; {kind.label} is read up to {most >> 20} MiB. Split it."
            raise UnreadableFile(msg)
        return
    if kind.label == "zip":
        parts_of(path)
    if kind.label == "ole" and _holds(path, LOCKED):
        raise UnreadableFile(f"{name!r} is protected by a password. Save a copy without one.")
    msg = {
        "ole": f"{name!r} is in the format of Office before 2007. Save it as DOCX, XLSX, PPTX or PDF.",
        "opendocument": f"{name!r} is in the format of OpenDocument. Save it as DOCX, XLSX, PPTX or PDF.",
        "archive": f"{name!r} is an archive, and archives are not unpacked. Give the files that are in it.",
    }.get(
        "archive" if kind.label in ARCHIVES else kind.label,
        f"{name!r} is {kind.mime}, which holds no text. Save it as PDF, Markdown or text.",
    )
    raise UnreadableFile(msg)


def _holds(path: Path, what: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(what) >= 0
