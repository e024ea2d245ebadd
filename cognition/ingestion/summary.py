"""The summary of a file that is searched: from a few excerpts, at the same cost whatever its size."""

import asyncio
from pathlib import Path
from typing import Final

import numpy as np
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from cognition.documents.excerpts import QUERY, ExcerptCandidate, representative, spread
from cognition.embedding import load_embedder
from cognition.ingestion.prompts import SUM_UP, excerpts_summary, sum_up_request
from cognition.models.outcome import Failure
from cognition.models.retry import Notify
from cognition.services import Services
from cognition.storage.resources import Resource
from cognition.text.truncate import shorten, shorten_together

OWN_WORDS: Final = 400
"""A text of fewer words is its own summary."""

SUMMARY_CHARACTERS: Final = 4_000
"""Of a summary in the prompt, whoever wrote it: words alone don't tell where a script has no spaces."""

EMBEDDED_HERE: Final = 60
"""Chunks to choose from where they are not embedded yet: about two seconds of a processor."""


async def sum_up_source(resource: Resource, services: Services, notify: Notify) -> str:
    """Sum up a file that session memory holds.

    Args:
        resource: The file.
        services: Where its text and chunks are, and the distillation model.
        notify: See `Models.call`.
    """
    if own := await asyncio.to_thread(_own_summary, services.files.text(resource)):
        return own
    excerpts, chunks = await _excerpts(resource, services)
    models = services.models
    if models.rehearses("MODEL_DISTILLATION"):
        return _by_excerpts(excerpts, "there is none without a key")
    request: list[AnyMessage] = [
        SystemMessage(SUM_UP),
        HumanMessage(sum_up_request(resource, excerpts, chunks)),
    ]
    outcome = await models.call("MODEL_DISTILLATION", request, notify=notify)
    if isinstance(outcome, Failure):
        return _by_excerpts(excerpts, outcome.sentence.rstrip("."))
    text = outcome.text.strip()
    return shorten(text, SUMMARY_CHARACTERS) if text else _by_excerpts(excerpts, "it had nothing to say")


def _own_summary(text: Path) -> str:
    """A short text itself; empty for one that is not."""
    with text.open(encoding="utf-8", errors="replace") as file:
        told = file.read(SUMMARY_CHARACTERS + 1).strip()
    return told if len(told) <= SUMMARY_CHARACTERS and len(told.split()) < OWN_WORDS else ""


def _by_excerpts(excerpts: list[str], reason: str) -> str:
    return excerpts_summary(shorten_together(excerpts, SUMMARY_CHARACTERS), reason)


async def _excerpts(resource: Resource, services: Services) -> tuple[list[str], int]:
    """The chunks that stand for a file, in reading order, and how many it has in all."""
    session = await services.session()
    place = resource.user_id, resource.chat_id, resource.id
    source = await session.source(*place)
    if source is None:
        return [], 0
    whole = source.state == "READY"
    numbers = spread(source.chunks) if whole else spread(source.chunks, EMBEDDED_HERE)
    fragments = await session.fragments(*place, numbers)
    settings = services.settings
    embedder = await asyncio.to_thread(load_embedder, settings.session_embedding, settings.home)
    if whole:
        stored = await session.vectors(*place, numbers)
        vectors = np.array([stored[fragment.chunk_index] for fragment in fragments], dtype=np.float32)
    else:
        vectors = await embedder.aembed([fragment.embedded_text for fragment in fragments], "passage")
    (query,) = await embedder.aembed([QUERY], "query")
    candidates = [
        ExcerptCandidate(fragment.chunk_index, fragment.text, tuple(fragment.heading_path))
        for fragment in fragments
    ]
    chosen = representative(candidates, vectors, query, settings.summary_excerpts)
    return [candidate.text for candidate in chosen], source.chunks
