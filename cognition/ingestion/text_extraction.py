"""The text of what a chat was given, written beside its copy."""

from collections.abc import Mapping, Sequence
from typing import Final

from cognition.documents.extraction import Extracted, UnreadableFile, extract
from cognition.documents.file_type import Kind, kind_of
from cognition.errors import CognitionError
from cognition.storage.files import Files
from cognition.storage.resources import Resource

NOTE: Final = Kind("text", "text/plain", "txt")
BEGINNING: Final = 300
"""Characters of a text that stand for its summary while the whole is in the prompt."""

MOST_SPANS: Final = 20
"""Spans of pages that are named one by one."""


class ScannedPages(CognitionError):
    """Pages of a PDF are pictures: a model has to look at them. Nothing of its text was kept.

    Attributes:
        pages: Their numbers.
        beside_text: Whether other pages hold text.
        apart: Their numbers, where a model is not to be shown all of the PDF; else empty.
    """

    def __init__(self, extracted: Extracted) -> None:
        super().__init__(f"{named(extracted.missing)} of {extracted.pages}")
        self.pages = extracted.missing
        self.beside_text = extracted.text
        self.apart = self.pages if len(self.pages) < extracted.pages else ()


def write_text(resource: Resource, files: Files, words: Mapping[int, str] | None = None) -> str:
    """Read a file and keep its text. Blocking, for minutes where the file is large.

    Args:
        resource: The file.
        files: Where its copy is.
        words: What a model read on pages that are pictures, by their numbers; None where it was not asked.

    Returns:
        What the text leaves out, in a sentence; empty when it is all there.

    Raises:
        UnreadableFile: There is no text in it; says why and what to do.
        ScannedPages: There are pages without text, and no model was asked.
        OSError: The disk is full, or the chat was purged meanwhile.
    """
    original = files.original(resource)
    kind = NOTE if resource.resource_type == "note" else kind_of(original)
    with files.writing_text(resource) as place:
        extracted = extract(original, kind, place, words)
        if extracted.missing and words is None:
            raise ScannedPages(extracted)
        if not extracted.text:
            msg = f"{resource.name!r} holds nothing but blanks."
            raise UnreadableFile(msg)
    if not extracted.missing:
        return ""
    return f"{named(extracted.missing)} of {extracted.pages} could not be read as text."


def named(pages: Sequence[int]) -> str:
    """Pages as a reader calls them: `Page 3`, or `Pages 2, 5-7`.

    Args:
        pages: Their numbers, rising; at least one.
    """
    spans: list[list[int]] = []
    for page in pages:
        if spans and spans[-1][-1] == page - 1:
            spans[-1][1:] = [page]
        else:
            spans.append([page])
    told = ", ".join("-".join(map(str, span)) for span in spans[:MOST_SPANS])
    return f"{'Pages' if len(pages) > 1 else 'Page'} {told}{', …' if len(spans) > MOST_SPANS else ''}"


def keep_words(resource: Resource, files: Files, words: str) -> None:
    """Keep what a model made of a file as its text. Blocking."""
    with files.writing_text(resource) as place:
        place.write_text(words, encoding="utf-8", errors="replace")


def beginning(resource: Resource, files: Files) -> str:
    """How a file's text begins; empty for one that has none. Blocking."""
    try:
        with files.text(resource).open(encoding="utf-8", errors="ignore") as text:
            return " ".join(text.read(BEGINNING).split())
    except FileNotFoundError:
        return ""
