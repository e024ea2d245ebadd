"""What was said in a chat, turn by turn: found again when it has left the context."""

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
"""The source that a chat's turns are in."""

BATCH: Final = 32
"""Turns that are stored and marked together."""

GAP: Final = 2
"""Characters between two turns in the running text of the conversation."""


@dataclass(frozen=True)
class Exchange:
    """A complete turn: what the user said and what came of it, as text.

    Attributes:
        message_id: The id of its last message.
        text: What both said.
        before: What was said in the turn before it, long texts by their ends.
        at: When it was answered, in unix seconds.
    """

    message_id: str
    text: str
    before: str
    at: float


class Conversation:
    """The turns of every chat, in session memory.

    Args:
        versions: The points and their catalogue.
        embedder: The model.
    """

    def __init__(self, versions: VersionedPoints, embedder: Embedder) -> None:
        self._versions = versions
        self._embedder = embedder
        self._locks = KeyedLocks()

    async def index(self, user_id: str, chat_id: str, messages: Sequence[AnyMessage]) -> int:
        """Add the complete turns that are not there yet, and say how many; each is marked once it is stored.

        Args:
            user_id: Whose chat.
            chat_id: Which.
            messages: The thread, oldest first.

        Raises:
            InvalidInput: The user or the chat is blank, or the session was closed meanwhile.
        """
        check_chat(user_id, chat_id)
        catalogue = self._versions.catalogue
        async with self._locks.held((user_id, chat_id)):
            known = await asyncio.to_thread(catalogue.turns, user_id, chat_id)
            new = [exchange for exchange in exchanges(messages) if exchange.message_id not in known]
            if new:
                source = await asyncio.to_thread(self._source, user_id, chat_id)
            for start in range(0, len(new), BATCH):
                source = await self._add(source, new[start : start + BATCH])
        return len(new)

    def _source(self, user_id: str, chat_id: str) -> Source:
        """The conversation as it is; made when it isn't there."""
        catalogue = self._versions.catalogue
        if known := catalogue.newest(user_id, chat_id, CONVERSATION):
            return known
        empty = Source(user_id=user_id, chat_id=chat_id, source_id=CONVERSATION, name="this conversation")
        version = catalogue.begin(empty)
        catalogue.finish(version, "READY", chunks=0, embedded=0, languages=())
        return replace(empty, version=version)

    async def _add(self, source: Source, said: Sequence[Exchange]) -> Source:
        """Add turns to the conversation; how it is then.

        Raises:
            InvalidInput: The session was closed meanwhile.
        """
        parts = await asyncio.to_thread(_parts, source, said, self._embedder)
        # The mean of both scores is, but for a factor, the score of the mean of both vectors.
        own = await self._embedder.aembed([part.fragment.embedded_text for part in parts], "passage")
        both = await self._embedder.aembed([part.together for part in parts], "passage")
        vectors = (own + both) / np.linalg.norm(own + both, axis=1, keepdims=True)
        points = [
            Point(part.fragment.point_id, vector, part.terms, part.fragment.payload())
            for part, vector in zip(parts, vectors, strict=True)
        ]
        last = said[-1]
        added = Source(
            user_id=source.user_id,
            chat_id=source.chat_id,
            source_id=CONVERSATION,
            chunks=len(parts),
            characters=sum(len(exchange.text) + GAP for exchange in said),
            lines=sum(exchange.text.count("\n") + GAP for exchange in said),
            first_at=said[0].at,
            last_at=last.at,
            languages=list({part.language for part in parts}),
            preview=preview(last.text),
            indexed_at=parts[0].fragment.indexed_at,
        )
        async with self._versions.in_state(source.version, "READY"):
            await self._versions.collection.upsert(points)
            ids = [exchange.message_id for exchange in said]
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
    """A part of a turn, alone and with what was said before."""

    fragment: SourceChunk
    together: str
    terms: SparseVector
    language: str


def exchanges(messages: Sequence[AnyMessage]) -> list[Exchange]:
    """The complete turns of a thread: those that end with an answer. Of the messages, only text is taken."""
    said: list[Exchange] = []
    for turn in split_turns(messages):
        answer = turn[-1]
        if not isinstance(answer, AIMessage) or answer.tool_calls or not answer.id:
            continue
        lines = [f"User: {turn[0].text.strip()}"]
        lines += [f"Assistant: {m.text.strip()}" for m in turn if isinstance(m, AIMessage) and m.text.strip()]
        before = head_and_tail(said[-1].text) if said else ""
        said.append(Exchange(clean(answer.id), clean("\n\n".join(lines)), before, _said_at(answer)))
    return said


def _said_at(answer: AIMessage) -> float:
    """When an answer was given, as we noted it; now where a client wrote its own note."""
    try:
        return checked_moment(answer.response_metadata[STAMP]["at"])
    except (KeyError, TypeError, InvalidInput):
        return now()


def _parts(source: Source, said: Sequence[Exchange], embedder: Embedder) -> list[_Part]:
    """The parts of turns, numbered on from the conversation so far."""
    parts: list[_Part] = []
    characters, lines, indexed_at = source.characters, source.lines, now()
    for exchange in said:
        language = detect_language(exchange.text)
        for chunk in chunks([exchange.text], embedder):
            together = f"{exchange.before}\n\n{chunk.text}" if exchange.before else chunk.text
            fragment = SourceChunk(
                user_id=source.user_id,
                chat_id=source.chat_id,
                source_id=CONVERSATION,
                version=source.version,
                chunk_index=source.chunks + len(parts),
                text=chunk.text,
                char_range=[characters + place for place in chunk.chars],
                line_range=[lines + line for line in chunk.lines],
                shared=chunk.shared,
                created_at=exchange.at,
                indexed_at=indexed_at,
                embedding_model=embedder.stamp.model,
            )
            terms = _mean(document_terms(chunk.text, language), document_terms(together, language))
            parts.append(_Part(fragment, together, terms, language))
        characters += len(exchange.text) + GAP
        lines += exchange.text.count("\n") + GAP
    return parts


def _mean(one: SparseVector, other: SparseVector) -> SparseVector:
    """The terms of both with half of their weights: a query scores it as the mean of both."""
    weights: dict[int, float] = {}
    for vector in (one, other):
        for index, value in zip(vector.indices, vector.values, strict=True):
            weights[index] = weights.get(index, 0.0) + value / 2
    return SparseVector(tuple(weights), tuple(weights.values()))
