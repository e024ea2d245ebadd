"""Detection of file types from content rather than from the file name."""

import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import filetype

from cognition.documents.encoding import SAMPLE, encoding_of, read_text
from cognition.documents.errors import DAMAGED
from cognition.storage.resources import ResourceType

if TYPE_CHECKING:
    from magika import Magika


OFFICE: Final = "application/vnd.openxmlformats-officedocument."
DOCUMENTS: Final = {
    "pdf": "application/pdf",
    "docx": f"{OFFICE}wordprocessingml.document",
    "pptx": f"{OFFICE}presentationml.presentation",
    "xlsx": f"{OFFICE}spreadsheetml.sheet",
    "epub": "application/epub+zip",
    "html": "text/html",
}
OFFICE_PARTS: Final = {"word/document.xml": "docx", "ppt/presentation.xml": "pptx", "xl/workbook.xml": "xlsx"}
"""Archive members that identify each Office format."""

EXTENSIONS: Final = {
    ".csv": ("csv", "text/csv"),
    ".htm": ("html", "text/html"),
    ".html": ("html", "text/html"),
    ".json": ("json", "application/json"),
    ".jsonl": ("jsonl", "application/jsonl"),
    ".log": ("log", "text/plain"),
    ".markdown": ("markdown", "text/markdown"),
    ".md": ("markdown", "text/markdown"),
    ".py": ("python", "text/x-python"),
    ".rst": ("rst", "text/x-rst"),
    ".tsv": ("tsv", "text/tab-separated-values"),
    ".txt": ("txt", "text/plain"),
    ".xml": ("xml", "application/xml"),
    ".yaml": ("yaml", "application/yaml"),
    ".yml": ("yaml", "application/yaml"),
}
HTML_LIKE: Final = ("markdown", "rst", "xml")
"""Formats that can contain so much HTML that they are detected as HTML."""

FALLBACK_LABELS: Final = ("txt", "csv")
"""Labels that Magika gives to texts it does not recognise; for example, it labels logs as CSV."""

OLE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
"""Signature of pre-2007 Office files and of password-protected Office files."""

OPEN_DOCUMENT: Final = b"application/vnd.oasis.opendocument."
PDF_PREFIX: Final = b"\xef\xbb\xbf\0\t\n\r "
"""Bytes that can precede the signature of a PDF."""

MIN_SCORE: Final = 0.9
"""Magika score from which the detected label takes precedence over the file extension."""


@dataclass(frozen=True)
class Kind:
    """The kind of a file.

    Attributes:
        resource_type: The resource type, which determines how the file is read.
        mime: The media type.
        label: A short label, such as `pdf`, `markdown`, `python` or `csv`.
    """

    resource_type: ResourceType
    mime: str
    label: str


def kind_of(path: Path) -> Kind:
    """Detect the kind of a file. Blocking: reads part of the file and, for the first text, loads a model.

    The extension matters only for text files, and only if the content is ambiguous.
    """
    with path.open("rb") as file:
        head = file.read(SAMPLE)
    if head.lstrip(PDF_PREFIX).startswith(b"%PDF-"):
        return _document("pdf")
    if head.startswith(OLE):
        return Kind("binary", "application/x-ole-storage", "ole")
    if head.startswith(b"PK") and zipfile.is_zipfile(path):
        return _archive(path)
    match = filetype.guess(head)
    if match is not None:
        return _binary(match.mime, match.extension)
    encoding = encoding_of(path)
    if encoding is None:
        return Kind("binary", "application/octet-stream", "unknown")
    return _text(path, next(read_text(path, encoding), ""))


def _document(label: str) -> Kind:
    return Kind("document", DOCUMENTS[label], label)


def _archive(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            media_type = archive.open("mimetype").read(64) if "mimetype" in names else b""
    except DAMAGED:
        return Kind("binary", "application/zip", "zip")
    if media_type.strip() == DOCUMENTS["epub"].encode():
        return _document("epub")
    if media_type.startswith(OPEN_DOCUMENT):
        return Kind("binary", media_type.decode("ascii", "replace"), "opendocument")
    label = next((label for part, label in OFFICE_PARTS.items() if part in names), "")
    return _document(label) if label else Kind("binary", "application/zip", "zip")


def _binary(mime: str, extension: str) -> Kind:
    if extension in DOCUMENTS:
        return _document(extension)
    media: dict[str, ResourceType] = {"image": "image", "audio": "audio", "video": "video"}
    return Kind(media.get(mime.partition("/")[0], "binary"), mime, extension)


def _text(path: Path, text: str) -> Kind:
    result = _magika().identify_bytes(text[:SAMPLE].encode("utf-8", "replace"))
    is_text = result.output.is_text
    label, mime = (str(result.output.label), result.output.mime_type) if is_text else ("txt", "text/plain")
    by_extension = EXTENSIONS.get(path.suffix.lower(), (label, mime))
    is_uncertain = not is_text or label in FALLBACK_LABELS or result.score < MIN_SCORE
    if is_uncertain or (label == "html" and by_extension[0] in HTML_LIKE):
        label, mime = by_extension
    return _document("html") if label == "html" else Kind("text", mime, label)


@cache
def _magika() -> "Magika":
    from magika import Magika  # noqa: PLC0415 - takes a second to import, and only text files need it

    return Magika()
