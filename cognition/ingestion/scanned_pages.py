"""Scanned pages of a PDF: transcribed by a model and inserted between the pages that have text."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Final

from cognition.documents.extraction import DOCUMENT_THREADS, UnreadableFile
from cognition.ingestion.media import NoTranscription, transcribe
from cognition.ingestion.text_extraction import ScannedPages, page_label, write_text
from cognition.models.client import Models
from cognition.models.retry import Notify
from cognition.storage.files import Files
from cognition.storage.resources import Resource

PAGE_HEADING: Final = re.compile(r"^#+ Page (\d+)[ :]*$", re.MULTILINE)
"""The heading that the model is asked to write above each page."""

SKIPPED: Final = "The model skipped this part. Add it as a separate file."


async def read_document(resource: Resource, files: Files, models: Models, notify: Notify) -> str:
    """Read a document and store its text; a model transcribes the pages without text.

    Args:
        resource: The document.
        files: The storage of its copy.
        models: The models, including the distillation model.
        notify: See `Models.call`.

    Returns:
        A note on the pages that are missing from the text, and why; empty if there are none.

    Raises:
        UnreadableFile: If the document has no text. The message says why and what to do.
        NoTranscription: If all pages are scanned and no model read them. The message says why and what to do.
        OSError: If the disk is full or the chat was purged in the meantime.
    """
    try:
        return await _write(resource, files)
    except ScannedPages as error:
        scans = error
    try:
        transcription = await transcribe(resource, files.original(resource), models, notify, scans.apart)
    except (UnreadableFile, NoTranscription) as reason:
        if not scans.beside_text:
            raise
        return f"{await _write(resource, files, {})} {reason}"
    missing = await _write(resource, files, split_by_page(transcription, scans.pages))
    return missing and f"{missing} {SKIPPED}"


def split_by_page(transcription: str, pages: Sequence[int]) -> dict[int, str]:
    """Return the text to insert for each page; pages that the model skipped are left out.

    If the headings do not identify the pages, the whole transcription is inserted for the first page.

    Args:
        transcription: The model's transcription, with a heading above each page.
        pages: Numbers of the pages, in the order in which the model received them.
    """
    preamble, *parts = PAGE_HEADING.split(transcription)
    texts = [text.strip() for text in parts[1::2]]
    positions = [int(number) for number in parts[::2]]
    if not positions or positions != sorted({*positions} & {*range(1, len(pages) + 1)}):
        return {**dict.fromkeys(pages, ""), pages[0]: _section(pages, transcription.strip())}
    texts[0] = "\n\n".join(filter(None, [preamble.strip(), texts[0]]))
    return {
        (page := pages[position - 1]): _section([page], text)
        for position, text in zip(positions, texts, strict=True)
    }


def _section(pages: Sequence[int], text: str) -> str:
    return f"## {page_label(pages)}\n\n{text}\n\n"


async def _write(resource: Resource, files: Files, transcribed: Mapping[int, str] | None = None) -> str:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(DOCUMENT_THREADS, write_text, resource, files, transcribed)
