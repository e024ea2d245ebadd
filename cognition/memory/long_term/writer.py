"""Writing memories: validation, distillation of the fact, and fusion with existing memories."""

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
"""Maximum lengths of a fact and of an artifact's name in characters."""
NEAREST: Final = 5
"""Number of similar memories that the distillation model sees, and may compare with the fact."""


@dataclass(frozen=True)
class WriteResult:
    """The result of writing a fact.

    Attributes:
        memory: The stored memory.
        outcome: The kind of write.
        note: An additional note for the caller; empty if none.
        distilled: True if the distillation model read the turns that the fact comes from.
    """

    memory: Memory
    outcome: FusionOutcome
    note: str = ""
    distilled: bool = False


@dataclass(frozen=True)
class _Decision:
    """A decision on how to store a fact."""

    outcome: FusionOutcome
    memory: Memory
    """The memory to store."""
    older: Memory | None = None
    """The memory it replaces."""
    note: str = ""


class Writer:
    """The writer of a collection of memories. Serialises the writes of each user."""

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
        """Store a fact, or fuse it with an existing memory.

        Args:
            user_id: The user.
            chat_id: The chat in which the fact was learnt.
            artifact_name: The artifact to store it in.
            fact: The text, stored verbatim.
            importance: The importance, from 1 to 5.
            messages: The messages of the thread it comes from, oldest first.
            shown: Ids of memories shown by a search in this turn. If the fact repeats one verbatim, nothing
                is stored.

        Raises:
            InvalidInput: If the importance, the name or the fact is invalid.
        """
        level = checked_importance(importance)
        fact, artifact_name = checked_fact(fact), checked_name(artifact_name)
        async with self._locks.lock(user_id):
            same = await self._with_text(user_id, fact)
            if same and same.memory_id in shown:
                return WriteResult(same, "known")
            vector = (await self._embedder.aembed([fact], "passage"))[0]
            near = await self._nearest(Filter(user_id), vector)
            classification = await self._distiller.file(fact, turn_window(messages), [n.memory for n in near])
            written_at = now()
            new = Memory(
                user_id=user_id,
                chat_id=clean(chat_id),
                memory_id=classification.memory_id,
                artifact_name=artifact_name,
                fact=fact,
                memory_importance=level,
                tags=classification.tags,
                origin=classification.origin,
                language=await asyncio.to_thread(detect_language, fact),
                created_at=written_at,
                updated_at=written_at,
                embedding_model=self._embedder.stamp.model,
            )
            decision = await self._decide(new, vector, same)
            written = await self._store(decision, new, vector)
        return replace(written, distilled=classification.distilled)

    async def undo(self, user_id: str, memory_id: str) -> Memory | None:
        """Restore the last older text of a memory. Return None if the memory does not exist.

        Raises:
            InvalidInput: If the memory has no older text.
        """
        async with self._locks.lock(user_id):
            records = await self._collection.retrieve(user_id, [point_id(user_id, memory_id)])
            if not records:
                return None
            memory = undone(Memory.from_payload(records[0].payload), now())
            vector = (await self._embedder.aembed([memory.fact], "passage"))[0]
            await self._collection.upsert([memory_point(memory, vector)])
            return memory

    async def delete(self, user_id: str, memory_id: str) -> bool:
        """Delete a memory permanently, after waiting for a running write that could store it again."""
        async with self._locks.lock(user_id):
            return bool(await self._collection.delete(Filter(user_id, ids=[point_id(user_id, memory_id)])))

    async def _decide(self, new: Memory, vector: Vector, same: Memory | None) -> _Decision:
        """Decide how to store a fact: the first applicable step of the four steps of fusion."""
        if same:
            return _Decision("refreshed", refreshed(same, within_origin(new)), same)
        own = next(iter(await self._nearest(Filter(new.user_id, ids=[new.point_id]), vector)), None)
        if own and own.similarity >= SAME_ID_SIMILARITY:
            return _Decision("replaced", replaced(own.memory, new), own.memory)
        note = ""
        if own:
            unused = await self._unused_id(new)
            note = f"The id {new.memory_id!r} belongs to another memory, so this one is stored as {unused!r}."
            new = replace(new, memory_id=unused)
        same_artifact = Filter(new.user_id, equals={"artifact_name": new.artifact_name})
        for near in await self._nearest(same_artifact, vector):
            close = near.similarity >= CLOSE_SIMILARITY
            if close and (decision := await self._judge(new, near.memory)):
                return decision
        return _Decision("new", within_origin(new), note=note)

    async def _judge(self, new: Memory, older: Memory) -> _Decision | None:
        """Decide by the model's verdict on two similar facts. Return None if they are distinct."""
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
        """Return the most similar memories that match the filter, most similar first."""
        hits = await self._collection.nearest(where, vector, NEAREST)
        cosines = {hit.id: hit.cosine for hit in hits}
        records = await self._collection.retrieve(where.user_id, list(cosines))
        similarity = self._embedder.calibration.similarity
        return [Near(Memory.from_payload(r.payload), similarity(cosines[r.id], "facts")) for r in records]

    async def _with_text(self, user_id: str, fact: str) -> Memory | None:
        """Return the user's memory with the same text, whatever its id and artifact."""
        records = await self._collection.scroll(Filter(user_id, equals={TEXT_KEY: text_key(fact)}), 1)
        return Memory.from_payload(records[0].payload) if records else None

    async def _unused_id(self, new: Memory) -> str:
        stem, number = new.memory_id[:60].strip("_"), 2
        while await self._collection.retrieve(new.user_id, [point_id(new.user_id, f"{stem}_{number}")]):
            number += 1
        return f"{stem}_{number}"

    async def _store(self, decision: _Decision, new: Memory, vector: Vector) -> WriteResult:
        """Store the memory of a decision, and add a note if its importance was lowered.

        Args:
            decision: The decision.
            new: The fact as submitted.
            vector: The fact's embedding.
        """
        memory = decision.memory
        if memory.fact != new.fact:
            vector = (await self._embedder.aembed([memory.fact], "passage"))[0]
        await self._collection.upsert([memory_point(memory, vector)])
        requested = max(each.memory_importance for each in (new, decision.older) if each)
        lowered = (
            f"Stored with importance {memory.memory_importance}: {AXIOM} is reserved for what the user said."
        )
        notes = [decision.note, lowered if memory.memory_importance < requested else ""]
        return WriteResult(memory, decision.outcome, " ".join(filter(None, notes)))


def memory_point(memory: Memory, vector: Vector) -> Point:
    """Return the point to store for a memory."""
    return Point(memory.point_id, vector, document_terms(memory.fact, memory.language), memory.payload())


def checked_importance(importance: object) -> int:
    """Return the importance after checking it.

    Raises:
        InvalidInput: If it is not an integer from 1 to 5. Booleans, strings and floats are invalid.
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
    """Return the sanitised fact, without surrounding whitespace.

    Raises:
        InvalidInput: If it is blank or too long.
    """
    fact = clean(fact).strip()
    if not _has_visible_characters(fact):
        msg = "The fact is empty: state what to remember in one sentence."
        raise InvalidInput(msg)
    if len(fact) > LONGEST_FACT:
        msg = (
            f"The fact has {len(fact):,} characters, but the limit is {LONGEST_FACT:,}. Remember only its "
            "essence, and save the full text with `save_session_context`."
        )
        raise InvalidInput(msg)
    return fact


def checked_name(artifact_name: str) -> str:
    """Return the normalised name of an artifact.

    Raises:
        InvalidInput: If it is blank or too long.
    """
    name = tidy_name(artifact_name)
    if not _has_visible_characters(name) or len(name) > LONGEST_NAME:
        msg = f"Invalid artifact_name {short_repr(name)}: expected 1 to {LONGEST_NAME} characters."
        raise InvalidInput(msg)
    return name


def _has_visible_characters(text: str) -> bool:
    """Return True if a text contains a visible character."""
    return any(char.isprintable() and not char.isspace() for char in text)
