"""Session memory: what a chat works on and the context can't hold, gone when the session ends."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from reprlib import repr as short_repr
from typing import Final

from cognition.dates import Period, now
from cognition.embedding import Embedder
from cognition.errors import InvalidInput
from cognition.identity import check_chat
from cognition.memory.session.catalog import Listing, Snapshot, Source, SourceTable
from cognition.memory.session.chunk import SourceChunk, collection_spec, point_id
from cognition.memory.session.conversation import CONVERSATION, Conversation
from cognition.memory.session.indexer import Indexer
from cognition.memory.session.passages import Found, passages
from cognition.memory.session.ranking import rerank, top_candidates
from cognition.memory.session.saver import Progress, Saver, SaveResult, free_id
from cognition.memory.session.versions import VersionedPoints
from cognition.memory.validation import UnknownSource, check_limit, checked_id, checked_moment
from cognition.storage.sqlite.database import Database
from cognition.text.language import detect_language
from cognition.text.sanitize import clean
from cognition.text.truncate import head_and_tail
from cognition.vectors import Filter, SparseVector, Vector, VectorEngine
from cognition.vectors.bm25 import query_terms

OVERFETCH: Final = 3
"""Candidates by meaning and by words for each result."""

MAX_TOKENS: Final = 8_000
"""What a search may put into the context."""


class SessionMemory:
    """The sources of every chat; each call is for one user. A blank user or chat is refused.

    Attributes:
        conversation: What was said in the chats.
    """

    def __init__(self, versions: VersionedPoints, embedder: Embedder) -> None:
        self._versions = versions
        self._collection = versions.collection
        self._catalogue = versions.catalogue
        self._embedder = embedder
        self._indexer = Indexer(versions, embedder)
        self._saver = Saver(versions, embedder, self._indexer)
        self.conversation = Conversation(versions, embedder)

    @classmethod
    async def open(cls, engine: VectorEngine, embedder: Embedder, database: Database) -> "SessionMemory":
        """Open the collection or make it, clear what a crash left, and go on embedding where it stopped.

        Raises:
            StampMismatch: It was filled by another embedding model.
        """
        collection = await engine.collection(collection_spec(embedder.stamp))
        versions = VersionedPoints(collection, SourceTable(database))
        await asyncio.to_thread(versions.catalogue.abandon)
        await versions.clear()
        memory = cls(versions, embedder)
        memory._indexer.start()
        return memory

    async def save(
        self,
        user_id: str,
        chat_id: str,
        source_id: str,
        text: str | Path,
        *,
        name: str = "",
        tags: Sequence[str] = (),
        created_at: float | None = None,
        on_progress: Progress | None = None,
    ) -> SaveResult:
        """Store a text under an id, whole, in place of what was there; the same text changes nothing.

        Args:
            user_id: Whose.
            chat_id: In which chat.
            source_id: Under which id it is found.
            text: The text, or a file of UTF-8.
            name: What people call it.
            tags: What it is about.
            created_at: When it was written, in unix seconds; None for now.
            on_progress: Told of each batch.

        Raises:
            InvalidInput: An argument can't be meant, the text is blank, or it was deleted meanwhile.
        """
        check_chat(user_id, chat_id)
        written = now() if created_at is None else checked_moment(created_at)
        source = Source(
            user_id=user_id,
            chat_id=chat_id,
            source_id=free_id(source_id),
            name=clean(name),
            first_at=written,
            last_at=written,
            tags=[clean(tag) for tag in tags],
        )
        return await self._saver.save(source, text, on_progress)

    async def search(
        self,
        user_id: str,
        chat_id: str,
        query: str,
        *,
        source_id: str = "",
        everywhere: bool = False,
        limit: int = 20,
        period: Period | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> Found:
        """The passages that are nearest to a query in meaning and in words, best first.

        Args:
            user_id: Whose.
            chat_id: In which chat.
            query: The question or key words.
            source_id: Only in this source; empty for all.
            everywhere: In all of the user's chats.
            limit: How many chunks at most; neighbours become one passage.
            period: Only what was said or written in it.
            max_tokens: What the passages may take together.

        Raises:
            UnknownSource: There is no such source in the chat, or in any with `everywhere`.
            InvalidInput: An argument can't be meant.
        """
        scope, source_id = _scope(user_id, chat_id, source_id, limit, everywhere=everywhere)
        check_limit("max_tokens", max_tokens)
        query = head_and_tail(clean(query))
        vector = (await self._embedder.aembed([query], "query"))[0]
        with self._versions.in_use():
            view = await self._view(user_id, scope, source_id)
            if not view.sources:
                return Found([], 0, 0, [])
            chats = {"chat_id": scope} if scope else {}
            where = Filter(
                user_id,
                equals={**chats, **({"source_id": source_id} if source_id else {})},
                without={"version": view.hidden},
                between={
                    "version": (None, view.last),
                    **({"created_at": (period.start, period.end)} if period else {}),
                },
            )
            terms = await asyncio.to_thread(_terms, query, view.languages)
            corpus = Filter(user_id, equals=chats)
            candidates = await self._collection.best(where, corpus, vector, terms, OVERFETCH * limit)
            close = {one.id: one for one in top_candidates(candidates, self._embedder.calibration, limit)}
            records = await self._collection.retrieve(user_id, list(close))
        found = [(SourceChunk.from_payload(record.payload), close[record.id]) for record in records]
        shown, omitted = passages(await asyncio.to_thread(rerank, query, found), max_tokens)
        return Found(shown, omitted, view.sources, view.indexing)

    async def sources(
        self,
        user_id: str,
        chat_id: str,
        *,
        source_id: str = "",
        everywhere: bool = False,
        limit: int = 20,
        period: Period | None = None,
    ) -> Listing:
        """The sources of a chat, or of all of the user's, newest first.

        Raises:
            UnknownSource: There is none of the id.
            InvalidInput: An argument can't be meant.
        """
        scope, source_id = _scope(user_id, chat_id, source_id, limit, everywhere=everywhere)
        if source_id:
            await self._view(user_id, scope, source_id)
        return await asyncio.to_thread(self._catalogue.listing, user_id, scope, source_id, limit, period)

    async def source(self, user_id: str, chat_id: str, source_id: str) -> Source | None:
        """A source of a chat as it is shown; None when there is none."""
        check_chat(user_id, chat_id)
        shown = await asyncio.to_thread(self._catalogue.shown, user_id, chat_id, checked_id(source_id))
        return shown[0] if shown else None

    async def fragments(
        self, user_id: str, chat_id: str, source_id: str, indexes: Sequence[int]
    ) -> list[SourceChunk]:
        """The chunks of a source with these numbers, in that order."""
        with self._versions.in_use():
            ids = await self._points(user_id, chat_id, source_id, indexes)
            records = await self._collection.retrieve(user_id, list(ids))
        return [SourceChunk.from_payload(record.payload) for record in records]

    async def vectors(
        self, user_id: str, chat_id: str, source_id: str, indexes: Sequence[int]
    ) -> dict[int, Vector]:
        """The embeddings of these chunks of a source, of those that have one yet."""
        with self._versions.in_use():
            ids = await self._points(user_id, chat_id, source_id, indexes)
            vectors = await self._collection.vectors(user_id, list(ids))
        return {ids[id_]: vector for id_, vector in vectors.items()}

    async def delete(self, user_id: str, chat_id: str, source_id: str) -> int:
        """Delete a source of this chat for good; how many chunks it had.

        Raises:
            UnknownSource: The chat has none of the id.
            InvalidInput: It is no id, or the conversation, which goes with the session.
        """
        check_chat(user_id, chat_id)
        source_id = checked_id(source_id)
        if source_id == CONVERSATION:
            msg = f"{CONVERSATION!r} is the record of this chat: it goes when the session is closed."
            raise InvalidInput(msg)
        chunks = await asyncio.to_thread(self._catalogue.remove, user_id, chat_id, source_id)
        if chunks is None:
            raise await self._unknown(user_id, chat_id, source_id)
        await self._versions.clear()
        return chunks

    async def purge(self, user_id: str, chat_id: str) -> int:
        """Delete all that a chat holds, its conversation too; how many chunks that were."""
        check_chat(user_id, chat_id)
        chunks = await asyncio.to_thread(self._catalogue.remove, user_id, chat_id)
        await self._versions.clear()
        return chunks or 0

    async def indexed(self) -> None:
        """Wait until every large source has its embeddings."""
        await self._indexer.finish()

    async def aclose(self) -> None:
        """Stop working in the background; the next start goes on there."""
        await self._indexer.aclose()

    async def _view(self, user_id: str, scope: str | None, source_id: str) -> Snapshot:
        view = await asyncio.to_thread(self._catalogue.view, user_id, scope, source_id)
        if source_id and not view.sources:
            raise await self._unknown(user_id, scope, source_id)
        if view.indexing:
            self._indexer.see_to_it()
        return view

    async def _points(
        self, user_id: str, chat_id: str, source_id: str, indexes: Sequence[int]
    ) -> dict[str, int]:
        """The ids of these chunks of a source, with their numbers."""
        source = await self.source(user_id, chat_id, source_id)
        if source is None:
            raise await self._unknown(user_id, chat_id, source_id)
        if wrong := [index for index in indexes if not 0 <= index < source.chunks]:
            msg = (
                f"{source_id!r} has no chunk {short_repr(wrong[0])}: it has {source.chunks}, numbered from 0."
            )
            raise InvalidInput(msg)
        return {point_id(source.version, index): index for index in indexes}

    async def _unknown(self, user_id: str, scope: str | None, source_id: str) -> UnknownSource:
        ids = await asyncio.to_thread(self._catalogue.ids, user_id, scope)
        return await asyncio.to_thread(UnknownSource, source_id, ids)


def _scope(
    user_id: str, chat_id: str, source_id: str, limit: int, *, everywhere: bool
) -> tuple[str | None, str]:
    """The chat, None for all, and the source, empty for all, that are meant.

    Raises:
        InvalidInput: One of them can't be, or the limit can't.
    """
    check_chat(user_id, chat_id)
    check_limit("limit", limit)
    return None if everywhere else chat_id, source_id and checked_id(source_id)


def _terms(query: str, languages: set[str]) -> SparseVector:
    """The words of a question in the stored languages and in its own."""
    return query_terms(query, detect_language(query), languages)
