"""The conversation of a chat as a source: its turns stay searchable after they leave the context."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from langchain_core.messages import AIMessage, AnyMessage

from cognition.concurrency.locks import KeyedLocks
from cognition.dates import now
from cognition.documents.chunking import chunks
from cognition.embedding import Embedder
from cognition.errors import InvalidInput
from cognition.identity import check_chat
from cognition.memory.session.catalog import Source
from cognition.memory.session.chunk import SourceChunk
from cognition.memory.session.splitter import preview
from cognition.memory.session.versions import GONE, VersionedPoints
from cognition.memory.validation import checked_moment
from cognition.messages.history import STAMP, split_turns
from cognition.text.language import detect_language
from cognition.text.sanitize import clean
from cognition.text.truncate import head_and_tail
from cognition.vectors import Point, SparseVector
from cognition.vectors.bm25 import document_terms

CONVERSATION: Final = "conversation_history"
"""The id of the source that contains a chat's turns."""

BATCH: Final = 32
"""Number of turns to store and mark as indexed at a time."""

GAP: Final = 2
"""Number of characters between two turns in the text of the conversation."""


@dataclass(frozen=True)
class Exchange:
    """The text of a complete turn.

    Attributes:
        message_id: The id of the last message.
        text: The messages of the user and the assistant.
        before: The text of the previous turn; of a long one, only its beginning and end.
        at: The time of the answer, in unix seconds.
    """

    message_id: str
    text: str
    before: str
    at: float


class Conversation:
    """The turns of all chats in session memory.

    Args:
        versions: The points and their catalogue.
        embedder: The embedding model.
    """

    def __init__(self, versions: VersionedPoints, embedder: Embedder) -> None:
        self._versions = versions
        self._embedder = embedder
        self._locks = KeyedLocks()

    async def index(self, user_id: str, chat_id: str, messages: Sequence[AnyMessage]) -> int:
        """Index the complete turns that are not indexed yet. Each is marked as indexed once it is stored.

        Args:
            user_id: The user.
            chat_id: The chat.
            messages: The messages of the thread, oldest first.

        Returns:
            The number of turns added.

        Raises:
            InvalidInput: If the user or the chat is blank, or the session was closed meanwhile.
        """
        check_chat(user_id, chat_id)
        catalogue = self._versions.catalogue
        async with self._locks.lock((user_id, chat_id)):
            known = await asyncio.to_thread(catalogue.turns, user_id, chat_id)
            new = [exchange for exchange in exchanges(messages) if exchange.message_id not in known]
            if new:
                source = await asyncio.to_thread(self._source, user_id, chat_id)
            for start in range(0, len(new), BATCH):
                source = await self._add(source, new[start : start + BATCH])
        return len(new)

    def _source(self, user_id: str, chat_id: str) -> Source:
        """Return the conversation of a chat, creating it if it does not exist."""
        catalogue = self._versions.catalogue
        if known := catalogue.newest(user_id, chat_id, CONVERSATION):
            return known
        empty = Source(user_id=user_id, chat_id=chat_id, source_id=CONVERSATION, name="this conversation")
        version = catalogue.begin(empty)
        catalogue.finish(version, "READY", chunks=0, embedded=0, languages=())
        return replace(empty, version=version)

    async def _add(self, source: Source, turns: Sequence[Exchange]) -> Source:
        """Add turns to the conversation, and return the updated source.

        Raises:
            InvalidInput: If the session was closed meanwhile.
        """
        parts = await asyncio.to_thread(_parts, source, turns, self._embedder)
        # Scoring the mean of both vectors gives the mean of both scores, up to a constant factor.
        own = await self._embedder.aembed([part.source_chunk.embedded_text for part in parts], "passage")
        both = await self._embedder.aembed([part.together for part in parts], "passage")
        vectors = (own + both) / np.linalg.norm(own + both, axis=1, keepdims=True)
        points = [
            Point(part.source_chunk.point_id, vector, part.terms, part.source_chunk.payload())
            for part, vector in zip(parts, vectors, strict=True)
        ]
        last = turns[-1]
        added = Source(
            user_id=source.user_id,
            chat_id=source.chat_id,
            source_id=CONVERSATION,
            chunks=len(parts),
            characters=sum(len(exchange.text) + GAP for exchange in turns),
            lines=sum(exchange.text.count("\n") + GAP for exchange in turns),
            first_at=turns[0].at,
            last_at=last.at,
            languages=list({part.language for part in parts}),
            preview=preview(last.text),
            indexed_at=parts[0].source_chunk.indexed_at,
        )
        async with self._versions.in_state(source.version, "READY"):
            await self._versions.collection.upsert(points)
            ids = [exchange.message_id for exchange in turns]
            if not await asyncio.to_thread(self._versions.catalogue.grow, source.version, added, ids):
                raise InvalidInput(GONE)
        return replace(
            source,
            chunks=source.chunks + added.chunks,
            characters=source.characters + added.characters,
            lines=source.lines + added.lines,
        )


@dataclass(frozen=True)
class _Part:
    """A part of a turn, by itself and together with the previous turn."""

    source_chunk: SourceChunk
    together: str
    terms: SparseVector
    language: str


def exchanges(messages: Sequence[AnyMessage]) -> list[Exchange]:
    """Return the text of a thread's complete turns, which are those that end with an answer."""
    completed: list[Exchange] = []
    for turn in split_turns(messages):
        answer = turn[-1]
        if not isinstance(answer, AIMessage) or answer.tool_calls or not answer.id:
            continue
        lines = [f"User: {turn[0].text.strip()}"]
        lines += [f"Assistant: {m.text.strip()}" for m in turn if isinstance(m, AIMessage) and m.text.strip()]
        before = head_and_tail(completed[-1].text) if completed else ""
        completed.append(Exchange(clean(answer.id), clean("\n\n".join(lines)), before, _answered_at(answer)))
    return completed


def _answered_at(answer: AIMessage) -> float:
    """Return the recorded time of an answer, or the current time if a client changed the record."""
    try:
        return checked_moment(answer.response_metadata[STAMP]["at"])
    except (KeyError, TypeError, InvalidInput):
        return now()


def _parts(source: Source, turns: Sequence[Exchange], embedder: Embedder) -> list[_Part]:
    """Return the parts of turns, numbered after those of the conversation so far."""
    parts: list[_Part] = []
    characters, lines, indexed_at = source.characters, source.lines, now()
    for exchange in turns:
        language = detect_language(exchange.text)
        for chunk in chunks([exchange.text], embedder):
            together = f"{exchange.before}\n\n{chunk.text}" if exchange.before else chunk.text
            source_chunk = SourceChunk(
                user_id=source.user_id,
                chat_id=source.chat_id,
                source_id=CONVERSATION,
                version=source.version,
                chunk_index=source.chunks + len(parts),
                text=chunk.text,
                char_range=[characters + offset for offset in chunk.chars],
                line_range=[lines + line for line in chunk.lines],
                shared=chunk.shared,
                created_at=exchange.at,
                indexed_at=indexed_at,
                embedding_model=embedder.stamp.model,
            )
            terms = _mean(document_terms(chunk.text, language), document_terms(together, language))
            parts.append(_Part(source_chunk, together, terms, language))
        characters += len(exchange.text) + GAP
        lines += exchange.text.count("\n") + GAP
    return parts


def _mean(one: SparseVector, other: SparseVector) -> SparseVector:
    """Return the mean of two lexical vectors, which gives the mean of both scores for any query."""
    weights: dict[int, float] = {}
    for vector in (one, other):
        for index, value in zip(vector.indices, vector.values, strict=True):
            weights[index] = weights.get(index, 0.0) + value / 2
    return SparseVector(tuple(weights), tuple(weights.values()))
