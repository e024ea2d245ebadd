"""The text of what a chat was given, written beside its copy."""

from typing import Final

from cognition.documents.extraction import Unreadable, extract
from cognition.documents.kind import Kind, kind_of
from cognition.storage.files import Files
from cognition.storage.registry import Resource

NOTE: Final = Kind("text", "text/plain", "txt")
BEGINNING: Final = 300
"""Characters of a text that stand for its summary while the whole is in the prompt."""

MOST_PAGES: Final = 20
"""Pages without text that are named one by one."""


class Scan(Unreadable):
    """A document whose pages are pictures: a model has to look at it."""


def write_text(resource: Resource, files: Files) -> str:
    """Read a file and keep its text. Blocking, for minutes where the file is large.

    Args:
        resource: The file.
        files: Where its copy is.

    Returns:
        What the text leaves out, in a sentence; empty when it is all there.

    Raises:
        Unreadable: There is no text in it; says why and what to do.
        Scan: There is none because its pages are pictures.
        OSError: The disk is full, or the chat was purged meanwhile.
    """
    original = files.original(resource)
    kind = NOTE if resource.resource_type == "note" else kind_of(original)
    with files.writing_text(resource) as place:
        extracted = extract(original, kind, place)
        if not extracted.text and kind.label == "pdf":
            msg = f"{resource.name!r} holds no text but pictures of its pages."
            raise Scan(msg)
        if not extracted.text:
            msg = f"{resource.name!r} holds nothing but blanks."
            raise Unreadable(msg)
    if not extracted.missing:
        return ""
    pages = ", ".join(map(str, extracted.missing[:MOST_PAGES]))
    more = ", …" if len(extracted.missing) > MOST_PAGES else ""
    return f"Pages {pages}{more} of {extracted.pages} hold no text, maybe scans, and were not read."


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
