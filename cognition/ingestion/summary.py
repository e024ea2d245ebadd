"""Summaries of files in session memory, written from a few excerpts at a cost independent of file size."""

import asyncio
from pathlib import Path
from typing import Final

import numpy as np
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from cognition.documents.excerpts import QUERY, ExcerptCandidate, sample_indexes, select_excerpts
from cognition.embedding import load_embedder
from cognition.ingestion.prompts import SUM_UP, excerpts_summary, sum_up_request
from cognition.models.outcome import Failure
from cognition.models.retry import Notify
from cognition.services import Services
from cognition.storage.resources import Resource
from cognition.text.truncate import shorten, shorten_together

MIN_WORDS: Final = 400
"""Minimum number of words for a text to be summarised; a shorter text is its own summary."""

SUMMARY_CHARACTERS: Final = 4_000
"""Maximum characters of a summary in the prompt. Word counts alone fail for scripts without spaces."""

UNEMBEDDED_CANDIDATES: Final = 60
"""Number of chunks to embed for the summary of a file that is not embedded yet: about two seconds."""


async def sum_up_source(resource: Resource, services: Services, notify: Notify) -> str:
    """Return the summary of a file that is in session memory.

    Args:
        resource: The file.
        services: The services of the process.
        notify: See `Models.call`.
    """
    if short_text := await asyncio.to_thread(_short_text, services.files.text(resource)):
        return short_text
    excerpts, chunks = await _excerpts(resource, services)
    models = services.models
    if models.rehearses("MODEL_DISTILLATION"):
        return _by_excerpts(excerpts, "no API key is set")
    request: list[AnyMessage] = [
        SystemMessage(SUM_UP),
        HumanMessage(sum_up_request(resource, excerpts, chunks)),
    ]
    outcome = await models.call("MODEL_DISTILLATION", request, notify=notify)
    if isinstance(outcome, Failure):
        return _by_excerpts(excerpts, outcome.sentence.rstrip("."))
    text = outcome.text.strip()
    return shorten(text, SUMMARY_CHARACTERS) if text else _by_excerpts(excerpts, "its answer was empty")


def _short_text(path: Path) -> str:
    """Return a text that is short enough to be its own summary; otherwise an empty string."""
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(SUMMARY_CHARACTERS + 1).strip()
    return text if len(text) <= SUMMARY_CHARACTERS and len(text.split()) < MIN_WORDS else ""


def _by_excerpts(excerpts: list[str], reason: str) -> str:
    return excerpts_summary(shorten_together(excerpts, SUMMARY_CHARACTERS), reason)


async def _excerpts(resource: Resource, services: Services) -> tuple[list[str], int]:
    """Return the most representative chunks of a file, in order, and its total number of chunks."""
    session = await services.session()
    key = resource.user_id, resource.chat_id, resource.id
    source = await session.source(*key)
    if source is None:
        return [], 0
    is_embedded = source.state == "READY"
    if is_embedded:
        indexes = sample_indexes(source.chunks)
    else:
        indexes = sample_indexes(source.chunks, UNEMBEDDED_CANDIDATES)
    fragments = await session.chunks(*key, indexes)
    settings = services.settings
    embedder = await asyncio.to_thread(load_embedder, settings.session_embedding, settings.home)
    if is_embedded:
        stored = await session.vectors(*key, indexes)
        vectors = np.array([stored[fragment.chunk_index] for fragment in fragments], dtype=np.float32)
    else:
        vectors = await embedder.aembed([fragment.embedded_text for fragment in fragments], "passage")
    (query,) = await embedder.aembed([QUERY], "query")
    candidates = [
        ExcerptCandidate(fragment.chunk_index, fragment.text, tuple(fragment.heading_path))
        for fragment in fragments
    ]
    excerpts = select_excerpts(candidates, vectors, query, settings.summary_excerpts)
    return [excerpt.text for excerpt in excerpts], source.chunks
