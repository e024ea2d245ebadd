"""Saving a text in session memory, completely or not at all."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from cognition.concurrency.locks import KeyedLocks
from cognition.concurrency.tasks import run_workers
from cognition.dates import now
from cognition.embedding import Embedder
from cognition.errors import InvalidInput
from cognition.memory.session.catalog import Source, State
from cognition.memory.session.chunk import SourceChunk
from cognition.memory.session.conversation import CONVERSATION
from cognition.memory.session.indexer import Indexer
from cognition.memory.session.splitter import Splitter, measure
from cognition.memory.session.versions import GONE, VersionedPoints
from cognition.memory.validation import checked_id
from cognition.vectors import Point, SparseVector, Vector

LARGE: Final = 5_000_000
"""Size in bytes above which a source is searchable by words first and embedded in the background."""

Batch = Sequence[tuple[SourceChunk, SparseVector]]

Progress = Callable[[int, float], None]
"""A callback that receives the number of stored chunks and their share of the text, from 0 to 1."""


@dataclass(frozen=True)
class SaveResult:
    """The result of saving a text.

    Attributes:
        source_id: The id of the source.
        chunks: Number of chunks.
        outcome: The kind of write.
        state: INDEXING while the source is searchable by words only.
    """

    source_id: str
    chunks: int
    outcome: Literal["new", "replaced", "unchanged"]
    state: State


class Saver:
    """The writer of versions of sources. Serialises the writes to each source.

    Args:
        versions: The points and their catalogue.
        embedder: The embedding model.
        indexer: The background task that embeds large sources.
    """

    def __init__(self, versions: VersionedPoints, embedder: Embedder, indexer: Indexer) -> None:
        self._versions = versions
        self._collection = versions.collection
        self._catalogue = versions.catalogue
        self._embedder = embedder
        self._indexer = indexer
        self._locks = KeyedLocks()

    async def save(self, source: Source, text: str | Path, on_progress: Progress | None) -> SaveResult:
        """Store a text, replacing the previous version of the source unless the text is the same.

        Args:
            source: The ids and metadata of the source.
            text: The text, or the path of a UTF-8 file.
            on_progress: Callback for each stored batch.

        Raises:
            InvalidInput: If the text is blank, or the source was deleted meanwhile.
        """
        key = (source.user_id, source.chat_id, source.source_id)
        async with self._locks.lock(key):
            measured = await asyncio.to_thread(measure, text)
            if not measured.preview:
                msg = "The text is empty: there is nothing to save."
                raise InvalidInput(msg)
            known = await asyncio.to_thread(self._catalogue.newest, *key)
            if known and known.sha256 == measured.sha256:
                return SaveResult(source.source_id, known.chunks, "unchanged", known.state)
            source = replace(
                source,
                sha256=measured.sha256,
                characters=measured.characters,
                lines=measured.lines,
                preview=measured.preview,
                indexed_at=now(),
            )
            state: State = "INDEXING" if measured.size > LARGE else "READY"
            chunks = await self._write(source, text, state, on_progress)
            return SaveResult(source.source_id, chunks, "replaced" if known else "new", state)

    async def _write(
        self, source: Source, text: str | Path, state: State, on_progress: Progress | None
    ) -> int:
        """Write the points of a version and make it visible. If this fails, nothing of it is kept."""
        source = replace(source, version=await asyncio.to_thread(self._catalogue.begin, source))
        splitter = Splitter(text, source, self._embedder)
        try:
            chunks = await self._store_all(splitter, source, state, on_progress)
            visible = await asyncio.to_thread(
                self._catalogue.finish,
                source.version,
                state,
                chunks=chunks,
                embedded=chunks if state == "READY" else 0,
                languages=list(splitter.languages),
            )
            if not visible:
                raise InvalidInput(GONE)
        finally:
            await asyncio.to_thread(self._catalogue.discard, source.version)
            await self._versions.clear()
        if state == "INDEXING":
            self._indexer.start()
        return chunks

    async def _store_all(
        self, splitter: Splitter, source: Source, state: State, on_progress: Progress | None
    ) -> int:
        """Split, embed and store a text in a pipeline of batches. Return the number of chunks."""
        stored = reached = 0
        embedded = state == "READY"
        splitting = asyncio.Lock()

        async def work() -> None:
            nonlocal stored, reached
            while batch := await self._split(splitter, splitting, embedded):
                await self._store(batch, source.version, embedded)
                stored, reached = stored + len(batch), max(reached, batch[-1][0].char_range[1])
                if on_progress:
                    on_progress(stored, reached / source.characters)

        # Without embedding, splitting and storing compete for the GIL, so two workers are slower than one.
        await run_workers(work, self._embedder.parallel_batches if embedded else 1)
        return stored

    async def _split(self, splitter: Splitter, splitting: asyncio.Lock, embedded: bool) -> Batch:
        # Split in the embedding threads, since more threads than cores would slow all of them down.
        threads = self._embedder.threads if embedded else None
        async with splitting:
            if splitter.ended:
                return []  # don't occupy an embedding thread
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(threads, splitter.take, self._embedder.batch_texts)

    async def _store(self, batch: Batch, version: int, embedded: bool) -> None:
        vectors: Sequence[Vector | None] = [None] * len(batch)
        if embedded:
            texts = [chunk.embedded_text for chunk, _ in batch]
            vectors = list(await self._embedder.aembed(texts, "passage"))
        points = [
            Point(chunk.point_id, vector, terms, chunk.payload())
            for (chunk, terms), vector in zip(batch, vectors, strict=True)
        ]
        async with self._versions.in_state(version, "WRITING"):
            await self._collection.upsert(points)


def checked_writable_id(source_id: object) -> str:
    """Return the id of a source to write, without surrounding whitespace.

    Raises:
        InvalidInput: If the id is invalid, or reserved for the conversation.
    """
    tidy = checked_id(source_id)
    if tidy == CONVERSATION:
        msg = f"{CONVERSATION!r} is reserved for the chat's conversation: choose another source_id."
        raise InvalidInput(msg)
    return tidy
