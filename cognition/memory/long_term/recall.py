"""Recall of memories. Scores all of the user's memories, so that no cut-off drops an important one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from cognition.dates import Period
from cognition.embedding import Embedder
from cognition.memory.long_term.memory import AXIOM, Memory, tidy_name
from cognition.memory.long_term.ranking import Candidate, candidates, contenders
from cognition.text.language import detect_language
from cognition.text.sanitize import clean
from cognition.text.truncate import head_and_tail
from cognition.vectors import Filter, SparseVector, VectorCollection
from cognition.vectors.bm25 import query_terms

AXIOMS_IN_PROMPT = 10
MATCHES_IN_PROMPT = 5
"""Maximum numbers of axioms and of other memories to add to a prompt."""


@dataclass(frozen=True)
class Recalled:
    """A memory returned by a search.

    Attributes:
        memory: The memory.
        score: `relevance × importance weight`.
        similarity: The calibrated cosine to the query, from 0 to 1.
    """

    memory: Memory
    score: float
    similarity: float


@dataclass(frozen=True)
class Index:
    """An index of a user's memories, newest first.

    Attributes:
        memories: The first `limit` memories.
        total: Number of all memories.
        artifacts: Number of memories per artifact.
        tags: Number of memories per tag.
    """

    memories: list[Memory]
    total: int
    artifacts: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)


class Recall:
    """Search over a collection of memories.

    Args:
        collection: The memories.
        embedder: The embedding model.
        weights: The weights of the importances 1–5.
    """

    def __init__(self, collection: VectorCollection, embedder: Embedder, weights: Sequence[float]) -> None:
        self._collection = collection
        self._embedder = embedder
        self._weights = weights

    async def search(self, where: Filter, query: str, limit: int, *, floor: bool = True) -> list[Recalled]:
        """Return the best memories that match the filter, best first.

        Args:
            where: The user and other conditions.
            query: The search query.
            limit: Maximum number of results.
            floor: False to include memories that don't answer the query.
        """
        hits = await self._candidates(where, head_and_tail(clean(query)), floor=floor)
        if not hits:
            return []
        kept = {candidate.id: candidate for candidate in contenders(hits, limit, self._weights)}
        records = await self._collection.retrieve(where.user_id, list(kept))
        ranked = [self._recalled(Memory.from_payload(r.payload), kept[r.id]) for r in records]
        ranked.sort(key=lambda recalled: (-recalled.score, recalled.memory.memory_id))
        return ranked[:limit]

    async def for_prompt(self, user_id: str, text: str) -> list[str]:
        """Return the ids of the user's newest axioms, followed by the best matches for a text.

        There is no similarity floor: the model can ignore a few irrelevant lines, while a short fact is often
        far from the question it answers.
        """
        axioms = Filter(user_id, equals={"memory_importance": AXIOM})
        records = await self._collection.scroll(axioms, AXIOMS_IN_PROMPT, order_by="updated_at")
        matches = await self.search(Filter(user_id), text, MATCHES_IN_PROMPT, floor=False)
        ids = [str(r.payload["memory_id"]) for r in records] + [m.memory.memory_id for m in matches]
        return list(dict.fromkeys(ids))

    async def index(self, where: Filter, limit: int) -> Index:
        """Return the memories that match the filter, newest first, with counts per artifact and tag."""
        records = await self._collection.scroll(where, limit, order_by="updated_at")
        return Index(
            [Memory.from_payload(record.payload) for record in records],
            await self._collection.count(where),
            await self._collection.facet(where, "artifact_name"),
            await self._collection.facet(where, "tags"),
        )

    async def _candidates(self, where: Filter, query: str, *, floor: bool) -> list[Candidate]:
        languages = await self._collection.values(where, "language")
        if not languages:
            return []
        vector = (await self._embedder.aembed([query], "query"))[0]
        terms, own = await asyncio.to_thread(_terms, query, languages)
        scores = await self._collection.scores(where, vector, terms)
        return candidates(scores, self._embedder.calibration, own, floor=floor)

    def _recalled(self, memory: Memory, candidate: Candidate) -> Recalled:
        score = candidate.relevance * self._weights[memory.memory_importance - 1]
        return Recalled(memory, score, candidate.similarity)


def filter_of(user_id: str, artifact_name: str = "", period: Period | None = None) -> Filter:
    """Return the filter for a search, limited to an artifact and a period if given."""
    name = tidy_name(artifact_name)
    equals = {"artifact_name": name} if name else {}
    between = {"updated_at": (period.start, period.end)} if period else {}
    return Filter(user_id, equals=equals, between=between)


def _terms(query: str, languages: set[str]) -> tuple[SparseVector, int]:
    """Return the terms of a query in all languages, and the number of terms in its own language."""
    own = detect_language(query)
    return query_terms(query, own, languages), len(query_terms(query, own).indices)
