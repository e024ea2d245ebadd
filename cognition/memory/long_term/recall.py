"""Finding memories: every memory of the user is scored, so that nothing important is lost to a cut-off."""

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


@dataclass(frozen=True)
class Recalled:
    """A memory that a search found.

    Attributes:
        memory: The memory.
        score: `relevance × weight of its importance`.
        similarity: Calibrated cosine to the question, 0–1.
    """

    memory: Memory
    score: float
    similarity: float


@dataclass(frozen=True)
class Index:
    """What a user's memories are, newest first.

    Attributes:
        memories: The first `limit` of them.
        total: How many there are.
        artifacts: How many each artifact has.
        tags: How many each theme has.
    """

    memories: list[Memory]
    total: int
    artifacts: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)


class Recall:
    """Searches a collection of memories.

    Args:
        collection: The memories.
        embedder: The model of their vectors.
        weights: What the importances 1–5 weigh.
    """

    def __init__(self, collection: VectorCollection, embedder: Embedder, weights: Sequence[float]) -> None:
        self._collection = collection
        self._embedder = embedder
        self._weights = weights

    async def search(self, where: Filter, query: str, limit: int, *, floor: bool = True) -> list[Recalled]:
        """The `limit` best of all memories in the filter, best first.

        Args:
            where: Whose memories, and which.
            query: The question.
            limit: How many at most.
            floor: Whether a memory that doesn't answer the question is left out.
        """
        found = await self._candidates(where, head_and_tail(clean(query)), floor=floor)
        if not found:
            return []
        kept = {candidate.id: candidate for candidate in contenders(found, limit, self._weights)}
        records = await self._collection.retrieve(where.user_id, list(kept))
        ranked = [self._recalled(Memory.from_payload(r.payload), kept[r.id]) for r in records]
        ranked.sort(key=lambda recalled: (-recalled.score, recalled.memory.memory_id))
        return ranked[:limit]

    async def for_prompt(self, user_id: str, text: str) -> list[str]:
        """Ids of the user's axioms, newest first, and of the best matches of a text.

        Without a floor: the model reads a handful of lines and passes over what doesn't fit, and a short fact
        is often far from the question that it answers.
        """
        axioms = Filter(user_id, equals={"memory_importance": AXIOM})
        records = await self._collection.scroll(axioms, AXIOMS_IN_PROMPT, order_by="updated_at")
        matches = await self.search(Filter(user_id), text, MATCHES_IN_PROMPT, floor=False)
        ids = [str(r.payload["memory_id"]) for r in records] + [m.memory.memory_id for m in matches]
        return list(dict.fromkeys(ids))

    async def index(self, where: Filter, limit: int) -> Index:
        """The memories in the filter, newest first, with what they are about."""
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
    """The filter of a search."""
    name = tidy_name(artifact_name)
    equals = {"artifact_name": name} if name else {}
    between = {"updated_at": (period.start, period.end)} if period else {}
    return Filter(user_id, equals=equals, between=between)


def _terms(query: str, languages: set[str]) -> tuple[SparseVector, int]:
    """The words of a question in the stored languages and in its own, and how many it has in its own."""
    own = detect_language(query)
    return query_terms(query, own, languages), len(query_terms(query, own).indices)
