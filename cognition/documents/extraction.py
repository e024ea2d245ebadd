"""The text of a file as UTF-8 or Markdown in another file, read without holding either in memory."""

import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cognition.documents.encoding import encoding_of, read_text
from cognition.documents.kind import Kind
from cognition.refusal import Refused

LARGEST_TEXT: Final = 1 << 30
LARGEST_DOCUMENT: Final = 200 << 20
LARGEST_UNPACKED: Final = 300 << 20
MOST_PARTS: Final = 20_000

_pdfium: Final = threading.Lock()
"""PDFium is not safe for threads: whoever touches a page holds this."""


class Unreadable(Refused):
    """A file that holds no text for us; the sentence says why and what to do."""


@dataclass(frozen=True)
class Extracted:
    """The text of a file.

    Attributes:
        path: Where it is, in UTF-8.
        text: Whether there is any; False for scans, which a model has to look at.
        chars: Its length in characters.
        size: Its length in bytes.
        pages: Pages of a PDF, else 0.
        missing: Numbers of the pages of a PDF that hold no text.
    """

    path: Path
    text: bool
    chars: int
    size: int
    pages: int = 0
    missing: tuple[int, ...] = ()


def extract(path: Path, kind: Kind, into: Path) -> Extracted:
    """Write the text of a file to `into`. Blocks, for minutes where the file is large.

    Args:
        path: The file.
        kind: What it is, from `kind_of`.
        into: The file to write; replaced when it is there.

    Raises:
        Unreadable: It is empty, encrypted, corrupt, too large, or of a kind without text.
        OSError: It can't be read, or `into` can't be written.
    """
    name, size = path.name, path.stat().st_size
    if not size:
        raise Unreadable(f"{name!r} is empty. Check that it was saved or uploaded whole.")
    if kind.label == "pdf":
        return _pdf(path, into)
    if kind.resource_type == "document":
        return _converted(path, kind, into)
    if kind.resource_type != "text":
        msg = f"{name!r} is {kind.mime}, which holds no text to read. Convert it to text, PDF or Markdown."
        raise Unreadable(msg)
    _check_size(path, LARGEST_TEXT)
    encoding = encoding_of(path)
    if encoding is None:
        raise Unreadable(f"{name!r} is not text in any encoding known here. Save it as UTF-8.")
    return _write(read_text(path, encoding), into)


def _write(pieces: Iterator[str], into: Path) -> Extracted:
    chars = size = 0
    blank = True
    with into.open("wb") as file:
        for piece in pieces:
            data = piece.encode("utf-8", "replace")
            file.write(data)
            chars, size = chars + len(piece), size + len(data)
            blank = blank and not piece.strip()
    return Extracted(into, not blank, chars, size)


def _check_size(path: Path, most: int) -> None:
    size = path.stat().st_size
    if size > most:
        msg = f"{path.name!r} has {size >> 20} MiB; such files are read up to {most >> 20} MiB. Split it."
        raise Unreadable(msg)


def _pdf(path: Path, into: Path) -> Extracted:
    import pypdfium2  # noqa: PLC0415 - loads PDFium, which only PDFs need

    missing: list[int] = []
    try:
        with _pdfium:
            document = pypdfium2.PdfDocument(path)
            pages = len(document)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            msg = f"{path.name!r} is protected by a password. Save a copy without one."
            raise Unreadable(msg) from error
        raise Unreadable(f"{path.name!r} is a damaged PDF ({error}). Save or print it anew.") from error

    def text() -> Iterator[str]:
        for number in range(pages):
            with _pdfium:
                page = document[number]
                textpage = page.get_textpage()
                found = textpage.get_text_range()
                textpage.close()
                page.close()
            found = found.replace("\r\n", "\n").replace("\ufffe", "").strip()
            if not found:
                missing.append(number + 1)
                continue
            yield f"## Page {number + 1}\n\n{found}\n\n"

    try:
        written = _write(text(), into)
    finally:
        with _pdfium:
            document.close()
    return Extracted(into, written.text, written.chars, written.size, pages, tuple(missing))


def _converted(path: Path, kind: Kind, into: Path) -> Extracted:
    _check_size(path, LARGEST_DOCUMENT)
    if kind.label != "html":
        _check_archive(path)
    from markitdown import MarkItDown, StreamInfo  # noqa: PLC0415 - takes seconds, and only documents need it
    from markitdown._exceptions import MarkItDownException  # noqa: PLC0415

    try:
        with path.open("rb") as file:
            info = StreamInfo(extension=f".{kind.label}", mimetype=kind.mime)
            markdown = MarkItDown().convert_stream(file, stream_info=info).markdown
    except MarkItDownException as error:
        raise Unreadable(f"{path.name!r} can't be read as {kind.label}. Save it anew.") from error
    return _write(iter([markdown]), into)


def _check_archive(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except zipfile.BadZipFile as error:
        raise Unreadable(f"{path.name!r} is damaged ({error}). Save it anew.") from error
    unpacked = sum(part.file_size for part in parts)
    if unpacked > LARGEST_UNPACKED or len(parts) > MOST_PARTS:
        msg = (
            f"{path.name!r} unpacks to {unpacked >> 20} MiB in {len(parts)} parts, beyond the "
            f"{LARGEST_UNPACKED >> 20} MiB and {MOST_PARTS} parts that are opened. Split it."
        )
        raise Unreadable(msg)
