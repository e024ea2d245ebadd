"""Text extraction: the text of a chat's file is stored next to its copy."""

from collections.abc import Mapping, Sequence
from typing import Final

from cognition.documents.extraction import Extracted, UnreadableFile, extract
from cognition.documents.file_type import Kind, kind_of
from cognition.errors import CognitionError
from cognition.storage.files import Files
from cognition.storage.resources import Resource

NOTE: Final = Kind("text", "text/plain", "txt")
PREVIEW_CHARACTERS: Final = 300
"""Characters of a text that are stored as its summary while the whole text is in the prompt."""

MAX_SPANS: Final = 20
"""Maximum number of page ranges to list in a label."""


class ScannedPages(CognitionError):
    """A PDF has scanned pages, which only a model can read. No text was stored.

    Attributes:
        pages: Numbers of the scanned pages.
        beside_text: True if other pages have text.
        apart: Numbers of the pages to send to the model; empty to send the whole PDF.
    """

    def __init__(self, extracted: Extracted) -> None:
        super().__init__(f"{page_label(extracted.missing)} of {extracted.pages} must be read by a model.")
        self.pages = extracted.missing
        self.beside_text = extracted.text
        self.apart = self.pages if len(self.pages) < extracted.pages else ()


def write_text(resource: Resource, files: Files, transcribed: Mapping[int, str] | None = None) -> str:
    """Extract the text of a file and store it. Blocking, possibly for minutes.

    Args:
        resource: The file.
        files: The storage of its copy.
        transcribed: Texts that a model transcribed, by page number; None if no model was asked yet.

    Returns:
        A sentence that names the pages without text; empty if there are none.

    Raises:
        UnreadableFile: If the file has no text. The message says why and what to do.
        ScannedPages: If there are pages without text and `transcribed` is None.
        OSError: If the disk is full or the chat was purged in the meantime.
    """
    original = files.original(resource)
    kind = NOTE if resource.resource_type == "note" else kind_of(original)
    with files.writing_text(resource) as text_path:
        extracted = extract(original, kind, text_path, transcribed)
        if extracted.missing and transcribed is None:
            raise ScannedPages(extracted)
        if not extracted.text:
            msg = f"{resource.name!r} contains only whitespace."
            raise UnreadableFile(msg)
    if not extracted.missing:
        return ""
    return f"{page_label(extracted.missing)} of {extracted.pages} could not be read as text."


def page_label(pages: Sequence[int]) -> str:
    """Return a readable label for pages, such as `Page 3` or `Pages 2, 5-7`.

    Args:
        pages: Page numbers in ascending order; at least one.
    """
    spans: list[list[int]] = []
    for page in pages:
        if spans and spans[-1][-1] == page - 1:
            spans[-1][1:] = [page]
        else:
            spans.append([page])
    ranges = ", ".join("-".join(map(str, span)) for span in spans[:MAX_SPANS])
    return f"{'Pages' if len(pages) > 1 else 'Page'} {ranges}{', …' if len(spans) > MAX_SPANS else ''}"


def write_transcription(resource: Resource, files: Files, words: str) -> None:
    """Store a model's transcription of a file as its text. Blocking."""
    with files.writing_text(resource) as text_path:
        text_path.write_text(words, encoding="utf-8", errors="replace")


def text_preview(resource: Resource, files: Files) -> str:
    """Return the beginning of a file's text; empty if it has no text. Blocking."""
    try:
        with files.text(resource).open(encoding="utf-8", errors="ignore") as text:
            return " ".join(text.read(PREVIEW_CHARACTERS).split())
    except FileNotFoundError:
        return ""
