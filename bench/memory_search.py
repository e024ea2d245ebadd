"""Search among 20,000 memories of 50 users, without embedding the query, compared with two baselines.

Run: python -m bench.memory_search
"""

import asyncio
import tempfile
import warnings
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models

from bench.recall import questions
from bench.report import report
from cognition.embedding import Stamp, TextRole, load_embedder
from cognition.embedding.embedder import Embedder
from cognition.memory.long_term.memory import Memory, collection_spec
from cognition.memory.long_term.recall import Recall, filter_of
from cognition.memory.long_term.writer import memory_point
from cognition.settings import Settings
from cognition.text.language import detect_language
from cognition.vectors import open_engine

MEMORIES, USERS, DIMS, QUERIES, LIMIT = 20_000, 50, 384, 200, 20
Vectors = NDArray[np.float32]


class ReadyVectors(Embedder):
    """An embedder with precomputed vectors, so that only the search is measured."""

    def __init__(self, model: Embedder, vectors: Vectors) -> None:
        self.stamp = Stamp("bench", "1", DIMS)
        self.calibration = model.calibration
        self.chunk_tokens = self.max_tokens = 512
        self._vectors = iter(np.tile(vectors, (50, 1)))

    def _count(self, text: str) -> int:
        return len(text.split())

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        return np.stack([next(self._vectors) for _ in texts])

    async def aembed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Return the next vectors."""
        return self._encode(texts, role)


def clustered(rng: np.random.Generator, count: int) -> Vectors:
    """Return unit vectors around 200 centres."""
    centres = rng.normal(size=(200, DIMS))
    vectors = centres[rng.integers(200, size=count)] + 0.6 * rng.normal(size=(count, DIMS))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def percentiles(times: Sequence[float]) -> tuple[float, float]:
    """Return p50 and p95 in milliseconds."""
    return float(np.percentile(times, 50)) * 1000, float(np.percentile(times, 95)) * 1000


async def timed(run: Callable[[int], Awaitable[object]], queries: int) -> tuple[float, float]:
    """Return p50 and p95 of a call, after ten warm-up calls."""
    times = []
    for number in range(-10, queries):
        started = perf_counter()
        await run(abs(number))
        if number >= 0:
            times.append(perf_counter() - started)
    return percentiles(times)


async def main() -> None:
    """Measure in one run and print the table."""
    rng = np.random.default_rng(3)
    passages, asked, _ = questions()
    sentences = [s.strip() for passage in passages for s in passage.split(". ") if 20 < len(s) < 300]
    texts = [sentences[int(i)] for i in rng.integers(len(sentences), size=MEMORIES)]
    vectors, queries = clustered(rng, MEMORIES), clustered(rng, QUERIES)
    languages = {text: detect_language(text) for text in set(texts)}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        embedder = ReadyVectors(load_embedder("e5-small", Path(folder)), queries)
        for name, users in (("50 users", USERS), ("1 user", 1)):
            engine = open_engine(Path(folder) / name)
            collection = await engine.collection(collection_spec(embedder.stamp))
            await collection.upsert(
                [
                    memory_point(_memory(n, f"user{n % users}", text, languages[text]), vectors[n])
                    for n, text in enumerate(texts)
                ]
            )
            recall = Recall(collection, embedder, Settings().importance_weights)

            async def search(n: int, recall: Recall = recall, users: int = users) -> object:
                return await recall.search(filter_of(f"user{n % users}"), asked[n], LIMIT)

            rows.append((f"memory search, {MEMORIES:,} memories of {name}", *await timed(search, QUERIES)))
            await engine.aclose()
    rows.append(
        (
            "numpy scan of the user's vectors (no words, no payload)",
            *await timed(numpy_scan(vectors, queries), QUERIES),
        )
    )
    rows.append(
        (
            "qdrant-client local, dense, filtered by user",
            *await timed(local_client(vectors, queries, texts), 30),
        )
    )
    ours = rows[0][2]
    table = [(name, f"{p50:.2f}", f"{p95:.2f}", f"{p95 / ours:.2f}") for name, p50, p95 in rows]
    report(
        "memory_search",
        "Search without the query's embedding",
        ("search", "p50 ms", "p95 ms", "p95 ratio"),
        table,
    )


def numpy_scan(vectors: Vectors, queries: Vectors) -> Callable[[int], Awaitable[object]]:
    """Return a lower bound: multiply one user's vectors by the query and sort."""
    owned = [vectors[user::USERS] for user in range(USERS)]

    async def search(n: int) -> object:
        return np.argsort(-(owned[n % USERS] @ queries[n % QUERIES]))[:LIMIT]

    return search


def local_client(
    vectors: Vectors, queries: Vectors, texts: Sequence[str]
) -> Callable[[int], Awaitable[object]]:
    """Return a search in the local mode of the Qdrant client, in memory."""
    warnings.filterwarnings("ignore", category=UserWarning)  # local mode warns that it is slow
    client = QdrantClient(":memory:")
    params = models.VectorParams(size=DIMS, distance=models.Distance.COSINE)
    client.create_collection("memories", vectors_config=params)
    payload = [{"user_id": f"user{n % USERS}", "fact": text} for n, text in enumerate(texts)]
    client.upload_collection("memories", vectors=vectors, payload=payload)

    async def search(n: int) -> object:
        mine = models.FieldCondition(key="user_id", match=models.MatchValue(value=f"user{n % USERS}"))
        wanted = models.Filter(must=[mine])
        return client.query_points("memories", query=queries[n].tolist(), query_filter=wanted, limit=LIMIT)

    return search


def _memory(number: int, user: str, text: str, language: str) -> Memory:
    return Memory(
        user_id=user,
        memory_id=f"memory_{number}",
        artifact_name="bench",
        fact=text,
        memory_importance=number % 5 + 1,
        created_at=0.0,
        updated_at=float(number),
        language=language,
    )


if __name__ == "__main__":
    asyncio.run(main())
