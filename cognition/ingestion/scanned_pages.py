"""The pages of a PDF that are pictures: transcribed by a model, and put in their place among the others."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Final

from cognition.documents.extraction import DOCUMENT_THREADS, UnreadableFile
from cognition.ingestion.media import NoTranscription, put_into_words
from cognition.ingestion.text_extraction import ScannedPages, named, write_text
from cognition.models.client import Models
from cognition.models.retry import Notify
from cognition.storage.files import Files
from cognition.storage.resources import Resource

MARK: Final = re.compile(r"^#+ Page (\d+)[ :]*$", re.MULTILINE)
"""What a model is asked to write over each page."""

LEFT_OUT: Final = "The model passed over that: give a file of these pages alone."


async def read_document(resource: Resource, files: Files, models: Models, notify: Notify) -> str:
    """Read a document and keep its text, with what a model reads on the pages that have none.

    Args:
        resource: The document.
        files: Where its copy is.
        models: Whose distillation model is asked.
        notify: See `Models.call`.

    Returns:
        What the text leaves out and why; empty when it is all there.

    Raises:
        UnreadableFile: There is no text in it; says why and what to do.
        NoTranscription: All of it is pictures, and no model read them; says why and what to do.
        OSError: The disk is full, or the chat was purged meanwhile.
    """
    try:
        return await _write(resource, files)
    except ScannedPages as scans:
        found = scans
    try:
        told = await put_into_words(resource, files.original(resource), models, notify, found.apart)
    except (UnreadableFile, NoTranscription) as reason:
        if not found.beside_text:
            raise
        return f"{await _write(resource, files, {})} {reason}"
    left_out = await _write(resource, files, by_page(told, found.pages))
    return left_out and f"{left_out} {LEFT_OUT}"


def by_page(told: str, pages: Sequence[int]) -> dict[int, str]:
    """What a model told of pages, as it stands in the place of each; those it gave nothing of are left out.

    Where its headings don't say which page is which, all of it stands in the place of the first.

    Args:
        told: Its transcription, with a heading over each page.
        pages: The numbers of the pages, in the order in which it was shown them.
    """
    before, *parts = MARK.split(told)
    texts = [text.strip() for text in parts[1::2]]
    places = [int(number) for number in parts[::2]]
    if not places or places != sorted({*places} & {*range(1, len(pages) + 1)}):
        return {**dict.fromkeys(pages, ""), pages[0]: _piece(pages, told.strip())}
    texts[0] = "\n\n".join(filter(None, [before.strip(), texts[0]]))
    return {
        (page := pages[place - 1]): _piece([page], text) for place, text in zip(places, texts, strict=True)
    }


def _piece(pages: Sequence[int], text: str) -> str:
    return f"## {named(pages)}\n\n{text}\n\n"


async def _write(resource: Resource, files: Files, words: Mapping[int, str] | None = None) -> str:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(DOCUMENT_THREADS, write_text, resource, files, words)
