"""Conversion of Word documents, presentations, e-books and web pages to Markdown."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

from markitdown import DocumentConverter, FileConversionException, MarkItDown, StreamInfo
from markitdown.converters import DocxConverter, EpubConverter, HtmlConverter, PptxConverter

from cognition.documents.encoding import encoding_of, read_text
from cognition.documents.errors import UnreadableFile, damaged
from cognition.documents.zip_limits import MAX_MARKUP, check_unpacked

READERS: Final[dict[str, type[DocumentConverter]]] = {
    "docx": DocxConverter,
    "epub": EpubConverter,
    "html": HtmlConverter,
    "pptx": PptxConverter,
}

SLIDE: Final = re.compile(r"<!-- Slide number: (\d+) -->\s*(?:# ?(.*))?")


def office_text(path: Path, label: str) -> Iterator[str]:
    """Yield the text of a document as Markdown.

    Args:
        path: The file.
        label: Its format: `docx`, `pptx`, `epub` or `html`.

    Raises:
        UnreadableFile: If the document is damaged or too large once unpacked.
        MemoryError: If memory runs out.
    """
    if label == "html":
        yield _markdown(_web_page(path), path.name, label)
        return
    check_unpacked(path)
    markdown = _markdown(path.read_bytes(), path.name, label)
    yield SLIDE.sub(_slide, markdown) if label == "pptx" else markdown


def _markdown(data: bytes, name: str, label: str) -> str:
    # Only this converter: the built-in ones access the network, open archives and guess formats.
    converter = MarkItDown(enable_builtins=False)
    converter.register_converter(READERS[label]())
    info = StreamInfo(extension=f".{label}", charset="utf-8")
    try:
        return converter.convert_stream(BytesIO(data), stream_info=info).markdown
    except FileConversionException as error:
        causes = [attempt.exc_info[1] for attempt in error.attempts or () if attempt.exc_info]
        cause = causes[-1] if causes else error
        if isinstance(cause, MemoryError):
            raise cause from None
        raise damaged(name, cause) from error


def _web_page(path: Path) -> bytes:
    """Return a web page encoded as UTF-8."""
    size = path.stat().st_size
    if size > MAX_MARKUP:
        msg = (
            f"{path.name!r} is {size >> 20} MiB; the limit for web pages is {MAX_MARKUP >> 20} MiB. "
            "Split it, or save it as text."
        )
        raise UnreadableFile(msg)
    return "".join(read_text(path, encoding_of(path) or "utf-8")).encode("utf-8", "replace")


def _slide(match: re.Match[str]) -> str:
    number, title = match.groups()
    return f"## Slide {number}: {title}\n" if title else f"## Slide {number}\n"
