"""Writing a memory: what is refused, where a fact is filed, and how it is fused with what is known."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from threading import Lock
from time import time
from typing import Final

from langchain_core.messages import AnyMessage

from cognition.embedding import Embedder
from cognition.embedding.base import clean
from cognition.memory.artifact import AXIOM, LABELS, Memory, normalized, point_id
from cognition.memory.distillation import Distiller, turn_window
from cognition.memory.engine import Filter, Point, Vector, VectorCollection
from cognition.memory.fusion import (
    CLOSE_SIMILARITY,
    SAME_ID_SIMILARITY,
    Near,
    Outcome,
    refreshed,
    replaced,
    undone,
)
from cognition.memory.lexical import detect_language, document_terms

LONGEST_FACT: Final = 1_500
NEAREST: Final = 5


class Refused(ValueError):
    """A write that can't be meant; the message says what to do instead. Nothing was changed."""


@dataclass(frozen=True)
class Written:
    """What became of a fact.

    Attributes:
        memory: The memory as it is stored now.
        outcome: What was done.
        note: What the writer should know of it beside that; empty when there is nothing.
    """

    memory: Memory
    outcome: Outcome
    note: str = ""


class Writer:
    """Writes to a collection of memories; two writes for one user wait for each other."""

    def __init__(self, collection: VectorCollection, embedder: Embedder, distiller: Distiller) -> None:
        self._collection = collection
        self._embedder = embedder
        self._distiller = distiller
        self._locks: dict[str, Lock] = {}

    async def write(
        self,
        user_id: str,
        chat_id: str,
        artifact_name: str,
        fact: str,
        importance: object,
        messages: Sequence[AnyMessage],
        shown: Collection[str],
    ) -> Written:
        """Store a fact, or fuse it with a memory that it belongs to.

        Args:
            user_id: Whose memory.
            chat_id: Where it was learnt.
            artifact_name: Which kind of memory.
            fact: The text, kept verbatim.
            importance: 1–5.
            messages: The thread that it comes from, oldest first.
            shown: Facts that were shown in this turn: one that comes back verbatim is not stored again.

        Raises:
            Refused: The importance, the name or the fact can't be meant.
        """
        level = checked_importance(importance)
        fact, artifact_name = checked_fact(fact), checked_name(artifact_name)
        async with self._one_at_a_time(user_id):
            vector = (await self._embedder.aembed([fact], "passage"))[0]
            near = await self._nearest(user_id, artifact_name, vector)
            same = next((n for n in near if normalized(n.memory.fact) == normalized(fact)), None)
            if same and normalized(fact) in map(normalized, shown):
                return Written(same.memory, "known")
            window = turn_window(messages, await self._distilled_until(user_id, chat_id))
            filing = await self._distiller.file(fact, window, [n.memory for n in near])
            note = ""
            if level == AXIOM and filing.origin != "user":
                level = AXIOM - 1
                note = f"Stored as {level} ({LABELS[level]}): {AXIOM} is kept for what the user said."
            now = time()
            new = Memory(
                user_id=user_id,
                chat_id=chat_id,
                memory_id=filing.memory_id,
                artifact_name=artifact_name,
                fact=fact,
                memory_importance=level,
                tags=filing.tags,
                origin=filing.origin or "assistant",
                language=await asyncio.to_thread(detect_language, fact),
                created_at=now,
                updated_at=now,
                distilled_until=str(window[-1].id or "") if window else "",
                embedding_model=self._embedder.stamp.model,
            )
            written = await self._fused(new, vector, near, same)
        return replace(written, note=" ".join(filter(None, [note, written.note])))

    async def undo(self, user_id: str, memory_id: str) -> Memory | None:
        """Bring the last older text of a memory back; None when there is no such memory.

        Raises:
            ValueError: It has no older text.
        """
        async with self._one_at_a_time(user_id):
            found = await self._collection.retrieve(user_id, [point_id(user_id, memory_id)])
            if not found:
                return None
            memory = undone(Memory.from_payload(found[0].payload), time())
            await self._store(memory)
            return memory

    async def _fused(self, new: Memory, vector: Vector, near: Sequence[Near], same: Near | None) -> Written:
        """The four steps of fusion, in their order."""
        if same:
            memory = refreshed(same.memory, new)
            await self._store(memory)
            return Written(memory, "refreshed")
        own = await self._with_id(new, vector)
        if own and own.similarity >= SAME_ID_SIMILARITY:
            memory = replaced(own.memory, new)
            await self._store(memory, vector)
            return Written(memory, "replaced")
        note = ""
        if own:
            free = await self._free_id(new)
            note = f"The id {new.memory_id!r} is another memory's, so this one is {free!r}."
            new = replace(new, memory_id=free)
        close = next((n for n in near if n.similarity >= CLOSE_SIMILARITY), None)
        if close:
            return replace(await self._judged(new, vector, close.memory), note=note)
        await self._store(new, vector)
        return Written(new, "new", note)

    async def _judged(self, new: Memory, vector: Vector, older: Memory) -> Written:
        verdict = await self._distiller.judge(older.fact, new.fact)
        match verdict.verdict:
            case "same":
                memory = refreshed(older, new)
                await self._store(memory)
                return Written(memory, "refreshed")
            case "update":
                memory = replaced(older, new)
                await self._store(memory, vector)
                return Written(memory, "replaced")
            case "merge" if len(verdict.text) <= LONGEST_FACT:
                memory = replaced(older, replace(new, fact=clean(verdict.text).strip()))
                await self._store(memory)
                return Written(memory, "merged")
            case _:
                await self._store(new, vector)
                return Written(new, "new")

    async def _nearest(self, user_id: str, artifact_name: str, vector: Vector) -> list[Near]:
        where = Filter(user_id, equals={"artifact_name": artifact_name})
        hits = await self._collection.nearest(where, vector, NEAREST)
        cosines = {hit.id: hit.cosine or 0.0 for hit in hits}
        records = await self._collection.retrieve(user_id, list(cosines))
        similarity = self._embedder.calibration.similarity
        return [Near(Memory.from_payload(r.payload), similarity(cosines[r.id], "facts")) for r in records]

    async def _with_id(self, new: Memory, vector: Vector) -> Near | None:
        """The memory that has the new one's id."""
        where = Filter(new.user_id, ids=[new.point_id])
        hits = await self._collection.nearest(where, vector, 1)
        records = await self._collection.retrieve(new.user_id, [hit.id for hit in hits])
        if not records:
            return None
        similarity = self._embedder.calibration.similarity(hits[0].cosine or 0.0, "facts")
        return Near(Memory.from_payload(records[0].payload), similarity)

    async def _free_id(self, new: Memory) -> str:
        number = 2
        while True:
            candidate = f"{new.memory_id}_{number}"
            if not await self._collection.retrieve(new.user_id, [point_id(new.user_id, candidate)]):
                return candidate
            number += 1

    async def _distilled_until(self, user_id: str, chat_id: str) -> list[str]:
        if not chat_id:
            return []
        where = Filter(user_id, equals={"chat_id": chat_id})
        newest = await self._collection.scroll(where, 1, order_by="updated_at")
        return [str(record.payload.get("distilled_until", "")) for record in newest]

    async def _store(self, memory: Memory, vector: Vector | None = None) -> None:
        if vector is None:
            vector = (await self._embedder.aembed([memory.fact], "passage"))[0]
        await self._collection.upsert([memory_point(memory, vector)])

    @asynccontextmanager
    async def _one_at_a_time(self, user_id: str) -> AsyncIterator[None]:
        """A lock that works over event loops, which a lock of asyncio doesn't, and can be cancelled."""
        lock = self._locks.setdefault(user_id, Lock())
        while not lock.acquire(blocking=False):  # noqa: ASYNC110  # an asyncio.Event belongs to one loop
            await asyncio.sleep(0.005)
        try:
            yield
        finally:
            lock.release()


def memory_point(memory: Memory, vector: Vector) -> Point:
    """A memory as it is stored."""
    return Point(memory.point_id, vector, document_terms(memory.fact, memory.language), memory.payload())


def checked_importance(importance: object) -> int:
    """The importance, if it is one.

    Raises:
        Refused: It is no whole number from 1 to 5; true, "3" and 3.7 are none.
    """
    if isinstance(importance, bool) or not isinstance(importance, int) or importance not in LABELS:
        levels = ", ".join(f"{level} {label}" for level, label in LABELS.items())
        msg = f"The importance {importance!r} is no level: give a whole number ({levels})."
        raise Refused(msg)
    return importance


def checked_fact(fact: str) -> str:
    """The fact without what can't be stored, and without spaces around it.

    Raises:
        Refused: It is blank or too long.
    """
    fact = clean(fact).strip()
    if not fact:
        msg = "The fact is empty: say in one sentence what is to be remembered."
        raise Refused(msg)
    if len(fact) > LONGEST_FACT:
        msg = (
            f"The fact has {len(fact):,} characters, and a memory holds {LONGEST_FACT:,}: remember its "
            "essence, and keep the whole text with `save_session_context`."
        )
        raise Refused(msg)
    return fact


def checked_name(artifact_name: str) -> str:
    """The artifact's name without spaces around it.

    Raises:
        Refused: It is blank or no name.
    """
    name = " ".join(clean(artifact_name).split())
    if not name or len(name) > 100:
        msg = f"The artifact_name {artifact_name!r} is no name: give one of at most 100 characters."
        raise Refused(msg)
    return name
