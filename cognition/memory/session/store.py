"""Session memory: searchable texts of a chat that exceed its context, deleted with its session."""

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
from cognition.memory.session.passages import SearchResult, passages
from cognition.memory.session.ranking import rerank, top_candidates
from cognition.memory.session.saver import Progress, Saver, SaveResult, checked_writable_id
from cognition.memory.session.versions import VersionedPoints
from cognition.memory.validation import UnknownSource, check_limit, checked_id, checked_moment
from cognition.storage.sqlite.database import Database
from cognition.text.language import detect_language
from cognition.text.sanitize import clean
from cognition.text.truncate import head_and_tail
from cognition.vectors import Filter, SparseVector, Vector, VectorEngine
from cognition.vectors.bm25 import query_terms

OVERFETCH: Final = 3
"""Number of candidates to fetch per result, for each of the two scores."""

MAX_TOKENS: Final = 8_000
"""Default token budget of a search result."""


class SessionMemory:
    """The sources of all chats. Each call concerns one user and chat, which must not be blank.

    Attributes:
        conversation: The conversations of the chats.
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
        """Open the collection, creating it if needed, clean up after a crash and resume unfinished embedding.

        Raises:
            StampMismatch: If its vectors were created with another embedding model.
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
        """Store a text as a source, replacing its previous version unless the text is the same.

        Args:
            user_id: The user.
            chat_id: The chat.
            source_id: The id of the source.
            text: The text, or the path of a UTF-8 file.
            name: The display name.
            tags: The topics of the text.
            created_at: The time it was written, in unix seconds; None for now.
            on_progress: Callback for each stored batch.

        Raises:
            InvalidInput: If an argument is invalid, the text is blank, or the source was deleted meanwhile.
        """
        check_chat(user_id, chat_id)
        written = now() if created_at is None else checked_moment(created_at)
        source = Source(
            user_id=user_id,
            chat_id=chat_id,
            source_id=checked_writable_id(source_id),
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
    ) -> SearchResult:
        """Search for passages by meaning and words.

        Args:
            user_id: The user.
            chat_id: The chat.
            query: A question or keywords.
            source_id: Limit the search to this source; empty for all.
            everywhere: True to search all of the user's chats.
            limit: Maximum number of chunks; adjacent chunks are merged into one passage.
            period: Limit the search to texts said or written in this period.
            max_tokens: Token budget for all passages.

        Returns:
            The passages, best first, and what was searched.

        Raises:
            UnknownSource: If the source does not exist in the chat, or in any chat with `everywhere`.
            InvalidInput: If an argument is invalid.
        """
        scope, source_id = _scope(user_id, chat_id, source_id, limit, everywhere=everywhere)
        check_limit("max_tokens", max_tokens)
        query = head_and_tail(clean(query))
        vector = (await self._embedder.aembed([query], "query"))[0]
        with self._versions.in_use():
            view = await self._view(user_id, scope, source_id)
            if not view.sources:
                return SearchResult([], 0, 0, [])
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
            best = {one.id: one for one in top_candidates(candidates, self._embedder.calibration, limit)}
            records = await self._collection.retrieve(user_id, list(best))
        hits = [(SourceChunk.from_payload(record.payload), best[record.id]) for record in records]
        merged, omitted = passages(await asyncio.to_thread(rerank, query, hits), max_tokens)
        return SearchResult(merged, omitted, view.sources, view.indexing)

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
        """Return the sources of a chat, or of all of the user's chats, newest first.

        Raises:
            UnknownSource: If no source has the given id.
            InvalidInput: If an argument is invalid.
        """
        scope, source_id = _scope(user_id, chat_id, source_id, limit, everywhere=everywhere)
        if source_id:
            await self._view(user_id, scope, source_id)
        return await asyncio.to_thread(self._catalogue.listing, user_id, scope, source_id, limit, period)

    async def source(self, user_id: str, chat_id: str, source_id: str) -> Source | None:
        """Return the visible version of a chat's source, or None if it does not exist."""
        check_chat(user_id, chat_id)
        sources = await asyncio.to_thread(self._catalogue.visible, user_id, chat_id, checked_id(source_id))
        return sources[0] if sources else None

    async def chunks(
        self, user_id: str, chat_id: str, source_id: str, indexes: Sequence[int]
    ) -> list[SourceChunk]:
        """Return the chunks of a source with these numbers, in this order."""
        with self._versions.in_use():
            ids = await self._points(user_id, chat_id, source_id, indexes)
            records = await self._collection.retrieve(user_id, list(ids))
        return [SourceChunk.from_payload(record.payload) for record in records]

    async def vectors(
        self, user_id: str, chat_id: str, source_id: str, indexes: Sequence[int]
    ) -> dict[int, Vector]:
        """Return the embeddings of these chunks of a source, by number; chunks without one are skipped."""
        with self._versions.in_use():
            ids = await self._points(user_id, chat_id, source_id, indexes)
            vectors = await self._collection.vectors(user_id, list(ids))
        return {ids[id_]: vector for id_, vector in vectors.items()}

    async def delete(self, user_id: str, chat_id: str, source_id: str) -> int:
        """Delete a source of a chat permanently. Return the number of its chunks.

        Raises:
            UnknownSource: If the chat has no source with this id.
            InvalidInput: If the id is invalid or the conversation, which only closing the session deletes.
        """
        check_chat(user_id, chat_id)
        source_id = checked_id(source_id)
        if source_id == CONVERSATION:
            msg = f"{CONVERSATION!r} is the chat's conversation: it is deleted when the session is closed."
            raise InvalidInput(msg)
        chunks = await asyncio.to_thread(self._catalogue.remove, user_id, chat_id, source_id)
        if chunks is None:
            raise await self._unknown(user_id, chat_id, source_id)
        await self._versions.clear()
        return chunks

    async def purge(self, user_id: str, chat_id: str) -> int:
        """Delete all sources of a chat, including its conversation. Return the number of their chunks."""
        check_chat(user_id, chat_id)
        chunks = await asyncio.to_thread(self._catalogue.remove, user_id, chat_id)
        await self._versions.clear()
        return chunks or 0

    async def wait_until_indexed(self) -> None:
        """Wait until all large sources are embedded."""
        await self._indexer.finish()

    async def aclose(self) -> None:
        """Stop background embedding. The next process resumes it."""
        await self._indexer.aclose()

    async def _view(self, user_id: str, scope: str | None, source_id: str) -> Snapshot:
        view = await asyncio.to_thread(self._catalogue.view, user_id, scope, source_id)
        if source_id and not view.sources:
            raise await self._unknown(user_id, scope, source_id)
        if view.indexing:
            self._indexer.resume()
        return view

    async def _points(
        self, user_id: str, chat_id: str, source_id: str, indexes: Sequence[int]
    ) -> dict[str, int]:
        """Return the point ids of these chunks of a source, with their numbers."""
        source = await self.source(user_id, chat_id, source_id)
        if source is None:
            raise await self._unknown(user_id, chat_id, source_id)
        if unknown := [index for index in indexes if not 0 <= index < source.chunks]:
            number = short_repr(unknown[0])
            msg = f"{source_id!r} has no chunk {number}: it has {source.chunks}, numbered from 0."
            raise InvalidInput(msg)
        return {point_id(source.version, index): index for index in indexes}

    async def _unknown(self, user_id: str, scope: str | None, source_id: str) -> UnknownSource:
        ids = await asyncio.to_thread(self._catalogue.ids, user_id, scope)
        return await asyncio.to_thread(UnknownSource, source_id, ids)


def _scope(
    user_id: str, chat_id: str, source_id: str, limit: int, *, everywhere: bool
) -> tuple[str | None, str]:
    """Check the arguments, and return the chat, None for all, and the source, empty for all.

    Raises:
        InvalidInput: If an argument is invalid.
    """
    check_chat(user_id, chat_id)
    check_limit("limit", limit)
    return None if everywhere else chat_id, source_id and checked_id(source_id)


def _terms(query: str, languages: set[str]) -> SparseVector:
    """Return the terms of a query in its own language and in the stored ones."""
    return query_terms(query, detect_language(query), languages)
