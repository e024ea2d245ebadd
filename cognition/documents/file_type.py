"""What a file is, told from its bytes and not from its name."""

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
INSIDE: Final = {"word/document.xml": "docx", "ppt/presentation.xml": "pptx", "xl/workbook.xml": "xlsx"}
"""A part that only this format has."""

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
MIXED: Final = ("markdown", "rst", "xml")
"""What may hold so much HTML that it is taken for it."""

VAGUE: Final = ("txt", "csv")
"""What Magika says of a text that it doesn't know; it takes a log for CSV."""

OLE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
"""Office before 2007, and office files with a password."""

OPEN_DOCUMENT: Final = b"application/vnd.oasis.opendocument."
BLANKS: Final = b"\xef\xbb\xbf\0\t\n\r "
"""What may stand before the mark of a PDF."""

CERTAIN: Final = 0.9
"""Score of Magika from which a text's content says more than its extension."""


@dataclass(frozen=True)
class Kind:
    """What a file is.

    Attributes:
        resource_type: The family that decides how it is read.
        mime: Its media type.
        label: One word for it, such as `pdf`, `markdown`, `python` or `csv`.
    """

    resource_type: ResourceType
    mime: str
    label: str


def kind_of(path: Path) -> Kind:
    """What a file is. Blocks: reads a part of the file, and loads a small model at the first text.

    The extension counts only among texts, where the content does not tell one from another.
    """
    with path.open("rb") as file:
        head = file.read(SAMPLE)
    if head.lstrip(BLANKS).startswith(b"%PDF-"):
        return _document("pdf")
    if head.startswith(OLE):
        return Kind("binary", "application/x-ole-storage", "ole")
    if head.startswith(b"PK") and zipfile.is_zipfile(path):
        return _archive(path)
    known = filetype.guess(head)
    if known is not None:
        return _known(known.mime, known.extension)
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
            declared = archive.open("mimetype").read(64) if "mimetype" in names else b""
    except DAMAGED:
        return Kind("binary", "application/zip", "zip")
    if declared.strip() == DOCUMENTS["epub"].encode():
        return _document("epub")
    if declared.startswith(OPEN_DOCUMENT):
        return Kind("binary", declared.decode("ascii", "replace"), "opendocument")
    label = next((label for part, label in INSIDE.items() if part in names), "")
    return _document(label) if label else Kind("binary", "application/zip", "zip")


def _known(mime: str, extension: str) -> Kind:
    if extension in DOCUMENTS:
        return _document(extension)
    families: dict[str, ResourceType] = {"image": "image", "audio": "audio", "video": "video"}
    return Kind(families.get(mime.partition("/")[0], "binary"), mime, extension)


def _text(path: Path, text: str) -> Kind:
    judged = _magika().identify_bytes(text[:SAMPLE].encode("utf-8", "replace"))
    known = judged.output.is_text
    label, mime = (str(judged.output.label), judged.output.mime_type) if known else ("txt", "text/plain")
    named = EXTENSIONS.get(path.suffix.lower(), (label, mime))
    unsure = not known or label in VAGUE or judged.score < CERTAIN
    if unsure or (label == "html" and named[0] in MIXED):
        label, mime = named
    return _document("html") if label == "html" else Kind("text", mime, label)


@cache
def _magika() -> "Magika":
    from magika import Magika  # noqa: PLC0415 - takes a second, and only texts need it

    return Magika()
