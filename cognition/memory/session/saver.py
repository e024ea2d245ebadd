"""Saving a text in session memory: all of it, or nothing."""

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
"""Bytes of UTF-8 from which a source is found by its words first and embedded in the background."""

Batch = Sequence[tuple[SourceChunk, SparseVector]]

Progress = Callable[[int, float], None]
"""Told how many chunks are stored, and which share of the text they are, 0–1."""


@dataclass(frozen=True)
class SaveResult:
    """What became of a text.

    Attributes:
        source_id: Under which it is found.
        chunks: How many parts it has.
        outcome: What was done.
        state: INDEXING while it is found by its words only.
    """

    source_id: str
    chunks: int
    outcome: Literal["new", "replaced", "unchanged"]
    state: State


class Saver:
    """Writes the versions of sources; two texts for one source wait for each other.

    Args:
        versions: The points and their catalogue.
        embedder: The model.
        indexer: Embeds what is large.
    """

    def __init__(self, versions: VersionedPoints, embedder: Embedder, indexer: Indexer) -> None:
        self._versions = versions
        self._collection = versions.collection
        self._catalogue = versions.catalogue
        self._embedder = embedder
        self._indexer = indexer
        self._locks = KeyedLocks()

    async def save(self, source: Source, text: str | Path, on_progress: Progress | None) -> SaveResult:
        """Store a text in place of what was there; the same text changes nothing.

        Args:
            source: Whose, in which chat, under which id, and what is known of it.
            text: The text, or a file of UTF-8.
            on_progress: Told of each batch.

        Raises:
            InvalidInput: There is nothing to read in the text, or it was deleted meanwhile.
        """
        key = (source.user_id, source.chat_id, source.source_id)
        async with self._locks.held(key):
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
        """Write the points of a version and show it; nothing of it stays when that fails."""
        source = replace(source, version=await asyncio.to_thread(self._catalogue.begin, source))
        cutter = Splitter(text, source, self._embedder)
        try:
            chunks = await self._store_all(cutter, source, state, on_progress)
            shown = await asyncio.to_thread(
                self._catalogue.finish,
                source.version,
                state,
                chunks=chunks,
                embedded=chunks if state == "READY" else 0,
                languages=list(cutter.languages),
            )
            if not shown:
                raise InvalidInput(GONE)
        finally:
            await asyncio.to_thread(self._catalogue.discard, source.version)
            await self._versions.clear()
        if state == "INDEXING":
            self._indexer.start()
        return chunks

    async def _store_all(
        self, cutter: Splitter, source: Source, state: State, on_progress: Progress | None
    ) -> int:
        """Cut, embed and store, a batch while others are at another of these; how many chunks there were."""
        stored = reached = 0
        embedded = state == "READY"
        cutting = asyncio.Lock()

        async def work() -> None:
            nonlocal stored, reached
            while batch := await self._cut(cutter, cutting, embedded):
                await self._store(batch, source.version, embedded)
                stored, reached = stored + len(batch), max(reached, batch[-1][0].char_range[1])
                if on_progress:
                    on_progress(stored, reached / source.characters)

        # Cutting and storing alone take the interpreter's lock by turns: two of them are slower than one.
        await run_workers(work, self._embedder.at_once if embedded else 1)
        return stored

    async def _cut(self, cutter: Splitter, cutting: asyncio.Lock, embedded: bool) -> Batch:
        # What is embedded is cut in the same threads: one more than there are cores slows all of them down.
        threads = self._embedder.threads if embedded else None
        async with cutting:
            if cutter.ended:
                return []  # nobody queues for it
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(threads, cutter.take, self._embedder.batch_texts)

    async def _store(self, batch: Batch, version: int, embedded: bool) -> None:
        vectors: Sequence[Vector | None] = [None] * len(batch)
        if embedded:
            texts = [fragment.embedded_text for fragment, _ in batch]
            vectors = list(await self._embedder.aembed(texts, "passage"))
        points = [
            Point(fragment.point_id, vector, terms, fragment.payload())
            for (fragment, terms), vector in zip(batch, vectors, strict=True)
        ]
        async with self._versions.in_state(version, "WRITING"):
            await self._collection.upsert(points)


def free_id(source_id: object) -> str:
    """The id of a source that may be written, without spaces around it.

    Raises:
        InvalidInput: It is no id, or the conversation's.
    """
    tidy = checked_id(source_id)
    if tidy == CONVERSATION:
        msg = f"{CONVERSATION!r} is the record of this chat: choose another source_id."
        raise InvalidInput(msg)
    return tidy
