"""Recall of session memory on 512 French questions, each passage in its own source.

Run: python -m bench.session_recall [MODEL …]   (the first run takes minutes with e5-small and is cached
in bench/.cache, which must be deleted when splitting or embedding changes)
"""

import asyncio
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bench.recall import COLUMNS, DEPTH, figures, questions
from bench.report import report
from cognition.context import BoundContext
from cognition.memory.session import ranking as closeness
from cognition.memory.session.chunk import place_of
from cognition.memory.session.store import SessionMemory
from cognition.services import Services
from cognition.settings import Settings
from cognition.text.language import detect_language
from cognition.vectors import Filter
from cognition.vectors.bm25 import query_terms
from cognition.vectors.embedded.requests import sharing
from tools.session_memory import search_sessions_context

CACHE = Path(__file__).parent / ".cache"
MODELS = ("use-multilingual", "e5-small")
SHARES = (0.45, 0.55, 0.65, 0.75, 0.85)
USER, CHAT = "bench", "cnil"
Ranks = NDArray[np.float64]


def first_ranks(found: Sequence[Sequence[str]], gold: Sequence[int]) -> Ranks:
    """Return the rank of each question's passage among the distinct sources found; infinite if missing."""
    ranks = np.full(len(gold), np.inf)
    for number, (sources, wanted) in enumerate(zip(found, gold, strict=True)):
        distinct = list(dict.fromkeys(sources))
        if f"passage_{wanted}" in distinct:
            ranks[number] = distinct.index(f"passage_{wanted}") + 1
    return ranks


async def through_the_tool(services: Services, asked: Sequence[str]) -> list[list[str]]:
    """Return the sources that the tool shows for each question, in order."""
    context = BoundContext(user_id=USER, bound=services)
    info = SimpleNamespace(thread_id=CHAT, run_id=None)
    runtime = cast("Any", SimpleNamespace(context=context, execution_info=info, server_info=None))
    search = cast("Any", search_sessions_context).coroutine
    answers = [await search(runtime=runtime, query=question, limit=3 * DEPTH) for question in asked]
    return [re.findall(r'^<passage source_id="(\w+)"', answer, re.MULTILINE) for answer in answers]


async def alone(session: SessionMemory, asked: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the sources found by embeddings alone and by words alone."""
    listing = await session.sources(USER, CHAT, limit=1_000)
    names = {source.version: source.source_id for source in listing.sources}
    languages = {language for source in listing.sources for language in source.languages}
    collection: Any = session._collection
    vectors = await session._embedder.aembed(asked, "query")
    dense, sparse = [], []
    where = Filter(USER, equals={"chat_id": CHAT})
    for question, vector in zip(asked, vectors, strict=True):
        hits = await collection.nearest(where, vector, 3 * DEPTH)
        dense.append([names[place_of(hit.id)[0]] for hit in hits])
        terms = query_terms(question, detect_language(question), languages)
        points = collection.shard.query(sharing(where, where, terms, 3 * DEPTH))
        sparse.append([names[place_of(str(point.id))[0]] for point in points])
    return dense, sparse


async def main(models: Sequence[str]) -> None:
    """Measure and print the tables."""
    passages, asked, gold = questions()
    rows, curve, chosen = [], [], closeness.MEANING
    for model in models:
        services = Services(Settings(home=CACHE / f"session-{model}", session_embedding=model))
        session = await services.session()
        for number, passage in enumerate(passages):
            await session.save(USER, CHAT, f"passage_{number}", passage)
        dense, sparse = await alone(session, asked)
        rows += [
            figures(f"{model}: dense alone", first_ranks(dense, gold)),
            figures(f"{model}: BM25 alone", first_ranks(sparse, gold)),
            figures(f"{model}: the tool", first_ranks(await through_the_tool(services, asked), gold)),
        ]
        for share in SHARES:
            setattr(closeness, "MEANING", share)  # noqa: B010  # Final elsewhere
            ranks = first_ranks(await through_the_tool(services, asked), gold)
            curve.append(figures(f"{model}: {share:.2f}", ranks))
        setattr(closeness, "MEANING", chosen)  # noqa: B010
        await services.aclose()
    report(
        "session_recall_meaning",
        "Recall by the weight of meaning; words and n-grams share the rest",
        COLUMNS,
        curve,
    )
    report("session_recall", "Recall of session memory, each passage a source", COLUMNS, rows)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or MODELS))
