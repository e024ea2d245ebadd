"""Writing a memory: what is refused, where a fact is filed, and how it is fused with what is known."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from reprlib import repr as short_repr
from typing import Final

from langchain_core.messages import AnyMessage

from cognition.concurrency.locks import KeyedLocks
from cognition.dates import now
from cognition.embedding import Embedder
from cognition.errors import InvalidInput
from cognition.memory.long_term.distillation import Distiller, turn_window
from cognition.memory.long_term.fusion import (
    CLOSE_SIMILARITY,
    SAME_ID_SIMILARITY,
    FusionOutcome,
    Near,
    refreshed,
    replaced,
    undone,
    within_origin,
)
from cognition.memory.long_term.memory import AXIOM, TEXT_KEY, Memory, point_id, text_key, tidy_name
from cognition.text.language import detect_language
from cognition.text.sanitize import clean
from cognition.vectors import Filter, Point, Vector, VectorCollection
from cognition.vectors.bm25 import document_terms

LONGEST_FACT: Final = 1_500
LONGEST_NAME: Final = 100
NEAREST: Final = 5
"""How many near memories the distillation model sees, and how many close ones it may judge."""


@dataclass(frozen=True)
class WriteResult:
    """What became of a fact.

    Attributes:
        memory: The memory as it is stored now.
        outcome: What was done.
        note: What the writer should know of it beside that; empty when there is nothing.
        distilled: Whether the distillation model read the turns that the fact comes from.
    """

    memory: Memory
    outcome: FusionOutcome
    note: str = ""
    distilled: bool = False


@dataclass(frozen=True)
class _Decision:
    """What becomes of a fact, before anything is stored."""

    outcome: FusionOutcome
    memory: Memory
    """The memory to store."""
    older: Memory | None = None
    """The memory it takes the place of."""
    note: str = ""


class Writer:
    """Writes to a collection of memories; two writes for one user wait for each other."""

    def __init__(self, collection: VectorCollection, embedder: Embedder, distiller: Distiller) -> None:
        self._collection = collection
        self._embedder = embedder
        self._distiller = distiller
        self._locks = KeyedLocks()

    async def write(
        self,
        user_id: str,
        chat_id: str,
        artifact_name: str,
        fact: str,
        importance: object,
        messages: Sequence[AnyMessage],
        shown: Collection[str],
    ) -> WriteResult:
        """Store a fact, or fuse it with a memory that it belongs to.

        Args:
            user_id: Whose memory.
            chat_id: Where it was learnt.
            artifact_name: Which kind of memory.
            fact: The text, kept verbatim.
            importance: 1–5.
            messages: The thread that it comes from, oldest first.
            shown: Ids of memories that a search showed in this turn: what comes back verbatim isn't stored
                again.

        Raises:
            InvalidInput: The importance, the name or the fact can't be meant.
        """
        level = checked_importance(importance)
        fact, artifact_name = checked_fact(fact), checked_name(artifact_name)
        async with self._locks.held(user_id):
            same = await self._with_text(user_id, fact)
            if same and same.memory_id in shown:
                return WriteResult(same, "known")
            vector = (await self._embedder.aembed([fact], "passage"))[0]
            near = await self._nearest(Filter(user_id), vector)
            filed = await self._distiller.file(fact, turn_window(messages), [n.memory for n in near])
            written_at = now()
            new = Memory(
                user_id=user_id,
                chat_id=clean(chat_id),
                memory_id=filed.memory_id,
                artifact_name=artifact_name,
                fact=fact,
                memory_importance=level,
                tags=filed.tags,
                origin=filed.origin,
                language=await asyncio.to_thread(detect_language, fact),
                created_at=written_at,
                updated_at=written_at,
                embedding_model=self._embedder.stamp.model,
            )
            decision = await self._decide(new, vector, same)
            written = await self._store(decision, new, vector)
        return replace(written, distilled=filed.distilled)

    async def undo(self, user_id: str, memory_id: str) -> Memory | None:
        """Bring the last older text of a memory back; None when there is no such memory.

        Raises:
            InvalidInput: It has no older text.
        """
        async with self._locks.held(user_id):
            found = await self._collection.retrieve(user_id, [point_id(user_id, memory_id)])
            if not found:
                return None
            memory = undone(Memory.from_payload(found[0].payload), now())
            vector = (await self._embedder.aembed([memory.fact], "passage"))[0]
            await self._collection.upsert([memory_point(memory, vector)])
            return memory

    async def delete(self, user_id: str, memory_id: str) -> bool:
        """Delete a memory for good, and not in the middle of a write that would store it again."""
        async with self._locks.held(user_id):
            return bool(await self._collection.delete(Filter(user_id, ids=[point_id(user_id, memory_id)])))

    async def _decide(self, new: Memory, vector: Vector, same: Memory | None) -> _Decision:
        """Decide what becomes of a fact: the first of the four steps of fusion that applies."""
        if same:
            return _Decision("refreshed", refreshed(same, within_origin(new)), same)
        own = next(iter(await self._nearest(Filter(new.user_id, ids=[new.point_id]), vector)), None)
        if own and own.similarity >= SAME_ID_SIMILARITY:
            return _Decision("replaced", replaced(own.memory, new), own.memory)
        note = ""
        if own:
            free = await self._free_id(new)
            note = f"The id {new.memory_id!r} is another memory's, so this one is {free!r}."
            new = replace(new, memory_id=free)
        kin = Filter(new.user_id, equals={"artifact_name": new.artifact_name})
        for near in await self._nearest(kin, vector):
            close = near.similarity >= CLOSE_SIMILARITY
            if close and (decision := await self._judge(new, near.memory)):
                return decision
        return _Decision("new", within_origin(new), note=note)

    async def _judge(self, new: Memory, older: Memory) -> _Decision | None:
        """Decide by the model's verdict on two close facts; None when they are distinct."""
        verdict = await self._distiller.judge(older.fact, new.fact)
        match verdict.verdict:
            case "same":
                return _Decision("refreshed", refreshed(older, within_origin(new)), older)
            case "update":
                return _Decision("replaced", replaced(older, new), older)
            case "merge" if 0 < len(verdict.text) <= LONGEST_FACT:
                language = await asyncio.to_thread(detect_language, verdict.text)
                both = replace(new, fact=verdict.text, language=language)
                return _Decision("merged", replaced(older, both), older)
            case _:
                return None

    async def _nearest(self, where: Filter, vector: Vector) -> list[Near]:
        """The nearest memories of a filter, nearest first."""
        hits = await self._collection.nearest(where, vector, NEAREST)
        cosines = {hit.id: hit.cosine for hit in hits}
        records = await self._collection.retrieve(where.user_id, list(cosines))
        similarity = self._embedder.calibration.similarity
        return [Near(Memory.from_payload(r.payload), similarity(cosines[r.id], "facts")) for r in records]

    async def _with_text(self, user_id: str, fact: str) -> Memory | None:
        """The user's memory of the same text, whatever its id and artifact."""
        found = await self._collection.scroll(Filter(user_id, equals={TEXT_KEY: text_key(fact)}), 1)
        return Memory.from_payload(found[0].payload) if found else None

    async def _free_id(self, new: Memory) -> str:
        stem, number = new.memory_id[:60].strip("_"), 2
        while await self._collection.retrieve(new.user_id, [point_id(new.user_id, f"{stem}_{number}")]):
            number += 1
        return f"{stem}_{number}"

    async def _store(self, decision: _Decision, new: Memory, vector: Vector) -> WriteResult:
        """Store the outcome of a decision, and say if its importance was lowered.

        Args:
            decision: What becomes of the fact.
            new: The fact as it came.
            vector: Its embedding.
        """
        memory = decision.memory
        if memory.fact != new.fact:
            vector = (await self._embedder.aembed([memory.fact], "passage"))[0]
        await self._collection.upsert([memory_point(memory, vector)])
        asked = max(each.memory_importance for each in (new, decision.older) if each)
        lowered = (
            f"Stored with importance {memory.memory_importance}: {AXIOM} is reserved for what the user said."
        )
        notes = [decision.note, lowered if memory.memory_importance < asked else ""]
        return WriteResult(memory, decision.outcome, " ".join(filter(None, notes)))


def memory_point(memory: Memory, vector: Vector) -> Point:
    """A memory as it is stored."""
    return Point(memory.point_id, vector, document_terms(memory.fact, memory.language), memory.payload())


def checked_importance(importance: object) -> int:
    """The importance, if it is one.

    Raises:
        InvalidInput: It is no whole number from 1 to 5; true, "3" and 3.7 are none.
    """
    if (
        isinstance(importance, bool)
        or not isinstance(importance, int)
        or importance not in range(1, AXIOM + 1)
    ):
        msg = f"Invalid importance {short_repr(importance)}: expected an integer from 1 to {AXIOM}."
        raise InvalidInput(msg)
    return importance


def checked_fact(fact: str) -> str:
    """The fact without what can't be stored, and without spaces around it.

    Raises:
        InvalidInput: It is blank or too long.
    """
    fact = clean(fact).strip()
    if not _is_legible(fact):
        msg = "The fact is empty: say in one sentence what is to be remembered."
        raise InvalidInput(msg)
    if len(fact) > LONGEST_FACT:
        msg = (
            f"The fact has {len(fact):,} characters, and a memory holds {LONGEST_FACT:,}: remember its "
            "essence, and keep the whole text with `save_session_context`."
        )
        raise InvalidInput(msg)
    return fact


def checked_name(artifact_name: str) -> str:
    """The artifact's name without spaces around it.

    Raises:
        InvalidInput: It is blank or no name.
    """
    name = tidy_name(artifact_name)
    if not _is_legible(name) or len(name) > LONGEST_NAME:
        msg = f"The artifact_name {short_repr(name)} is no name: give one of 1 to {LONGEST_NAME} characters."
        raise InvalidInput(msg)
    return name


def _is_legible(text: str) -> bool:
    """Whether anything can be seen of a text."""
    return any(char.isprintable() and not char.isspace() for char in text)
