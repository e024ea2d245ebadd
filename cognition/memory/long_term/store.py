"""Long-term memory: what is remembered of each user, over all their chats."""

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


@dataclass(frozen=True)
class Deleted:
    """What a deletion found.

    Attributes:
        found: Whether a memory had the id.
        nearest: Ids of the user's that look like it.
    """

    found: bool
    nearest: Sequence[str] = ()


class LongTermMemory:
    """The memories of every user; each call is for one of them. A blank user is refused."""

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
        """Open the collection, or make it.

        Raises:
            StampMismatch: It was filled by another embedding model.
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
        """Store a fact, or fuse it with a memory that it belongs to; see `Writer.write`."""
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
        """The memories that answer a query, best first; none when nothing does.

        Raises:
            InvalidInput: The user or the limit can't be meant.
        """
        check_limit("limit", limit)
        return await self._recall.search(filter_of(user_id, artifact_name, period), query, limit)

    async def note_recall(self, user_id: str, recalled: Sequence[Recalled]) -> None:
        """Take down that memories were asked for, which lengthens their life."""
        for found in recalled:
            memory = found.memory
            noted = {"last_recalled_at": now(), "recall_count": memory.recall_count + 1}
            await self._collection.set_payload(Filter(user_id, ids=[memory.point_id]), noted)

    async def index(
        self, user_id: str, *, artifact_name: str = "", limit: int = 20, period: Period | None = None
    ) -> Index:
        """The memories newest first, with counts per artifact and theme.

        Raises:
            InvalidInput: The user or the limit can't be meant.
        """
        check_limit("limit", limit)
        return await self._recall.index(filter_of(user_id, artifact_name, period), limit)

    async def recall(self, user_id: str, text: str) -> list[str]:
        """Ids of what belongs under a message: the user's axioms, then its best matches."""
        return await self._recall.for_prompt(user_id, text)

    async def fetch(self, user_id: str, memory_ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids that exist, in that order."""
        records = await self._collection.retrieve(user_id, [point_id(user_id, id_) for id_ in memory_ids])
        return [Memory.from_payload(record.payload) for record in records]

    async def delete(self, user_id: str, memory_id: str) -> Deleted:
        """Delete a memory for good."""
        check_user(user_id)
        if await self._writer.delete(user_id, memory_id):
            return Deleted(found=True)
        ids = sorted(await self._collection.values(Filter(user_id), "memory_id"))
        return Deleted(found=False, nearest=await asyncio.to_thread(_nearest_ids, memory_id, ids))

    async def undo(self, user_id: str, memory_id: str) -> Memory | None:
        """Bring the last older text of a memory back; None when there is no such memory."""
        check_user(user_id)
        return await self._writer.undo(user_id, memory_id)

    async def import_many(self, memories: Sequence[Memory]) -> None:
        """Store memories as they are, without distillation or fusion; one with a known id replaces it.

        Raises:
            InvalidInput: A user is blank, or an id not in snake case: two users' memories could be one point.
                Nothing of the call is stored.
        """
        for memory in memories:
            check_user(memory.user_id)
            if not memory.memory_id or memory.memory_id != snake_case(memory.memory_id):
                msg = f"The memory_id {short_repr(memory.memory_id)} is none: write it like home_city."
                raise InvalidInput(msg)
        model = self._embedder.stamp.model
        stamped = [replace(memory, embedding_model=model) for memory in memories]
        for start in range(0, len(stamped), IMPORT_BATCH):
            batch = stamped[start : start + IMPORT_BATCH]
            vectors = await self._embedder.aembed([memory.fact for memory in batch], "passage")
            await self._collection.upsert([memory_point(m, v) for m, v in zip(batch, vectors, strict=True)])

    async def aclose(self) -> None:
        """Close the collection and let go of the folder."""
        await self._engine.aclose()


def _nearest_ids(memory_id: str, ids: Sequence[str]) -> list[str]:
    """The ids that are written most like one."""
    return get_close_matches(memory_id, ids, n=5, cutoff=0.3)
