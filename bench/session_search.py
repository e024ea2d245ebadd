"""Search among 100,000 chunks of 100 sessions, without embedding the query, compared with a plain scan.

Run: python -m bench.session_search
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from bench.memory_search import DIMS, ReadyVectors, Vectors, clustered, timed
from bench.recall import questions
from bench.report import report
from cognition.embedding import load_embedder
from cognition.memory.session.catalog import Source
from cognition.memory.session.chunk import SourceChunk
from cognition.memory.session.store import SessionMemory
from cognition.storage.sqlite.database import Database
from cognition.vectors import Point, open_engine
from cognition.vectors.bm25 import document_terms

CHUNKS, SESSIONS, USERS, QUERIES, LIMIT = 100_000, 100, 10, 200, 20
SOURCES = 10
"""Number of sources per session."""


async def filled(session: SessionMemory, vectors: Vectors, texts: list[str]) -> None:
    """Write each session's sources as a save does."""
    terms = [document_terms(text, "fr") for text in texts]
    each = CHUNKS // SESSIONS // SOURCES
    number = 0
    for chat in range(SESSIONS):
        for source in range(SOURCES):
            of = Source(user_id=f"user{chat % USERS}", chat_id=f"chat{chat}", source_id=f"source{source}")
            version = session._catalogue.begin(of)
            points = []
            for index in range(each):
                text = number % len(texts)
                fragment = SourceChunk(
                    user_id=of.user_id,
                    chat_id=of.chat_id,
                    source_id=of.source_id,
                    version=version,
                    chunk_index=index,
                    text=texts[text],
                    char_range=(0, len(texts[text])),
                    line_range=(1, 1),
                    created_at=float(number),
                )
                points.append(Point(fragment.point_id, vectors[number], terms[text], fragment.payload()))
                number += 1
            await session._collection.upsert(points)
            session._catalogue.finish(version, "READY", chunks=each, embedded=each, languages=["fr"])


def numpy_scan(vectors: Vectors, queries: Vectors) -> Callable[[int], Awaitable[object]]:
    """Return a lower bound: multiply one session's vectors by the query and sort."""
    each = CHUNKS // SESSIONS

    async def search(n: int) -> object:
        chat = n % SESSIONS
        return np.argsort(-(vectors[chat * each : (chat + 1) * each] @ queries[n % QUERIES]))[:LIMIT]

    return search


async def main() -> None:
    """Measure and print the tables."""
    rng = np.random.default_rng(3)
    passages, asked, _ = questions()
    texts = [" ".join(words[:80]) for passage in passages if (words := passage.split())]
    vectors, queries = clustered(rng, CHUNKS), clustered(rng, QUERIES)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        embedder = ReadyVectors(load_embedder("use-multilingual", home), queries)
        engine = open_engine(home)
        session = await SessionMemory.open(engine, embedder, Database(home))
        await filled(session, vectors, texts)
        await session._collection.flush()

        async def search(n: int, *, everywhere: bool = False) -> object:
            chat = n % SESSIONS
            return await session.search(
                f"user{chat % USERS}",
                f"chat{chat}",
                asked[n % len(asked)],
                limit=LIMIT,
                everywhere=everywhere,
            )

        async def search_all(n: int) -> object:
            return await search(n, everywhere=True)

        rows = [
            (f"hybrid search in one session of {CHUNKS // SESSIONS:,} chunks", *await timed(search, QUERIES)),
            (
                f"hybrid search in a user's {SESSIONS // USERS} sessions",
                *await timed(search_all, QUERIES),
            ),
            (
                "numpy scan of the session's vectors (no words, no payload)",
                *await timed(numpy_scan(vectors, queries), QUERIES),
            ),
        ]
        await session.aclose()
        await engine.aclose()
    ours = rows[0][2]
    table = [(name, f"{p50:.2f}", f"{p95:.2f}", f"{p95 / ours:.2f}") for name, p50, p95 in rows]
    title = f"Session search among {CHUNKS:,} chunks, {DIMS} dimensions, without the query's embedding"
    report("session_search", title, ("search", "p50 ms", "p95 ms", "p95 ratio"), table)


if __name__ == "__main__":
    asyncio.run(main())
