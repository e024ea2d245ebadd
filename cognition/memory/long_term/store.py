"""Long-term memory: the facts remembered about each user, shared by all of the user's chats."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from reprlib import repr as short_repr

from langchain_core.messages import AnyMessage

from cognition.dates import Period, now
from cognition.embedding import Embedder
from cognition.errors import InvalidInput
from cognition.identity import check_user
from cognition.memory.long_term.distillation import Distiller
from cognition.memory.long_term.memory import Memory, collection_spec, point_id, snake_case
from cognition.memory.long_term.recall import Index, Recall, Recalled, filter_of
from cognition.memory.long_term.writer import Writer, WriteResult, memory_point
from cognition.memory.validation import check_limit
from cognition.models.client import Models
from cognition.settings import Settings
from cognition.vectors import Filter, VectorCollection, VectorEngine

IMPORT_BATCH = 64
"""Number of memories to embed and store at a time during an import."""


@dataclass(frozen=True)
class Deleted:
    """The result of a deletion.

    Attributes:
        found: True if the memory existed.
        nearest: The most similar ids of the user's memories, if it did not exist.
    """

    found: bool
    nearest: Sequence[str] = ()


class LongTermMemory:
    """The memories of all users. Each call concerns one user, who must not be blank."""

    def __init__(
        self,
        engine: VectorEngine,
        collection: VectorCollection,
        embedder: Embedder,
        writer: Writer,
        recall: Recall,
    ) -> None:
        self._engine = engine
        self._collection = collection
        self._embedder = embedder
        self._writer = writer
        self._recall = recall

    @classmethod
    async def open(
        cls, engine: VectorEngine, embedder: Embedder, settings: Settings, models: Models
    ) -> "LongTermMemory":
        """Open the collection, creating it if it does not exist.

        Raises:
            StampMismatch: If its vectors were created with another embedding model.
        """
        collection = await engine.collection(collection_spec(embedder.stamp))
        writer = Writer(collection, embedder, Distiller(models))
        recall = Recall(collection, embedder, settings.importance_weights)
        return cls(engine, collection, embedder, writer, recall)

    async def write(
        self,
        user_id: str,
        chat_id: str,
        artifact_name: str,
        fact: str,
        importance: object,
        *,
        messages: Sequence[AnyMessage] = (),
        shown: Collection[str] = (),
    ) -> WriteResult:
        """Store a fact, or fuse it with an existing memory; see `Writer.write`."""
        check_user(user_id)
        return await self._writer.write(user_id, chat_id, artifact_name, fact, importance, messages, shown)

    async def search(
        self,
        user_id: str,
        query: str,
        *,
        artifact_name: str = "",
        limit: int = 20,
        period: Period | None = None,
    ) -> list[Recalled]:
        """Return the memories that answer a query, best first; empty if none does.

        Raises:
            InvalidInput: If the user or the limit is invalid.
        """
        check_limit("limit", limit)
        return await self._recall.search(filter_of(user_id, artifact_name, period), query, limit)

    async def note_recall(self, user_id: str, recalled: Sequence[Recalled]) -> None:
        """Update the recall count and time of memories that a search returned."""
        for hit in recalled:
            memory = hit.memory
            payload = {"last_recalled_at": now(), "recall_count": memory.recall_count + 1}
            await self._collection.set_payload(Filter(user_id, ids=[memory.point_id]), payload)

    async def index(
        self, user_id: str, *, artifact_name: str = "", limit: int = 20, period: Period | None = None
    ) -> Index:
        """Return the memories, newest first, with counts per artifact and tag.

        Raises:
            InvalidInput: If the user or the limit is invalid.
        """
        check_limit("limit", limit)
        return await self._recall.index(filter_of(user_id, artifact_name, period), limit)

    async def recall(self, user_id: str, text: str) -> list[str]:
        """Return the ids of the memories to add to a message: the user's axioms, then its best matches."""
        return await self._recall.for_prompt(user_id, text)

    async def fetch(self, user_id: str, memory_ids: Sequence[str]) -> list[Memory]:
        """Return the memories with these ids, in this order; unknown ids are skipped."""
        records = await self._collection.retrieve(user_id, [point_id(user_id, id_) for id_ in memory_ids])
        return [Memory.from_payload(record.payload) for record in records]

    async def delete(self, user_id: str, memory_id: str) -> Deleted:
        """Delete a memory permanently."""
        check_user(user_id)
        if await self._writer.delete(user_id, memory_id):
            return Deleted(found=True)
        ids = sorted(await self._collection.values(Filter(user_id), "memory_id"))
        return Deleted(found=False, nearest=await asyncio.to_thread(_nearest_ids, memory_id, ids))

    async def undo(self, user_id: str, memory_id: str) -> Memory | None:
        """Restore the last older text of a memory. Return None if the memory does not exist."""
        check_user(user_id)
        return await self._writer.undo(user_id, memory_id)

    async def import_many(self, memories: Sequence[Memory]) -> None:
        """Store memories without distillation or fusion, replacing those with the same id.

        Raises:
            InvalidInput: If a user is blank or an id is not in snake case; with other ids, memories of two
                users could share a point. Nothing is stored.
        """
        for memory in memories:
            check_user(memory.user_id)
            if not memory.memory_id or memory.memory_id != snake_case(memory.memory_id):
                value = short_repr(memory.memory_id)
                msg = f"Invalid memory_id {value}: expected snake case, such as home_city."
                raise InvalidInput(msg)
        model = self._embedder.stamp.model
        stamped = [replace(memory, embedding_model=model) for memory in memories]
        for start in range(0, len(stamped), IMPORT_BATCH):
            batch = stamped[start : start + IMPORT_BATCH]
            vectors = await self._embedder.aembed([memory.fact for memory in batch], "passage")
            await self._collection.upsert([memory_point(m, v) for m, v in zip(batch, vectors, strict=True)])

    async def aclose(self) -> None:
        """Close the collection and release the home folder."""
        await self._engine.aclose()


def _nearest_ids(memory_id: str, ids: Sequence[str]) -> list[str]:
    """Return the ids with the most similar spelling."""
    return get_close_matches(memory_id, ids, n=5, cutoff=0.3)
