"""Background embedding of large sources, which lexical search finds in the meantime."""

import asyncio
import logging
from concurrent.futures import Future
from typing import Final

from cognition.concurrency.event_loop import background_loop
from cognition.embedding import Embedder
from cognition.errors import InvalidInput
from cognition.memory.session.catalog import Source
from cognition.memory.session.chunk import SourceChunk, point_id
from cognition.memory.session.versions import VersionedPoints

logger = logging.getLogger(__name__)

BATCH: Final = 64
"""Number of chunks between two checkpoints: the most work that a crash can lose."""


class Indexer:
    """The background task that embeds INDEXING sources one by one, resuming where the last process stopped.

    Args:
        versions: The points and their catalogue.
        embedder: The embedding model.
    """

    def __init__(self, versions: VersionedPoints, embedder: Embedder) -> None:
        self._versions = versions
        self._embedder = embedder
        self._lock = asyncio.Lock()  # used only on the background loop
        self._running: set[Future[None]] = set()

    def start(self) -> None:
        """Start embedding on the background loop, which outlives the caller's loop."""
        running = asyncio.run_coroutine_threadsafe(self._work(), background_loop())
        self._running.add(running)
        running.add_done_callback(self._ended)

    def resume(self) -> None:
        """Start embedding again if it is not running, since the failure that ended it may have passed."""
        if not self._running:
            self.start()

    def _ended(self, running: Future[None]) -> None:
        self._running.discard(running)
        if not running.cancelled() and (error := running.exception()):
            logger.error("background embedding failed; the next search will resume it", exc_info=error)

    async def finish(self) -> None:
        """Wait until everything is embedded."""
        # Shielded, so that cancelling the wait does not cancel the embedding.
        await asyncio.gather(*(asyncio.shield(asyncio.wrap_future(future)) for future in list(self._running)))

    async def aclose(self) -> None:
        """Stop after the current batch. The next process resumes there."""
        for running in list(self._running):
            running.cancel()
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._idle(), background_loop()))

    async def _idle(self) -> None:
        async with self._lock:
            return

    async def _work(self) -> None:
        async with self._lock:
            while source := await asyncio.to_thread(self._versions.catalogue.waiting):
                try:
                    await self._embed(source)
                except InvalidInput:
                    continue  # the source was removed meanwhile

    async def _embed(self, source: Source) -> None:
        catalogue, collection = self._versions.catalogue, self._versions.collection
        for start in range(source.embedded, source.chunks, BATCH):
            stop = min(start + BATCH, source.chunks)
            ids = [point_id(source.version, index) for index in range(start, stop)]
            records = await collection.retrieve(source.user_id, ids)
            texts = [SourceChunk.from_payload(record.payload).embedded_text for record in records]
            vectors = await self._embedder.aembed(texts, "passage")
            async with self._versions.in_state(source.version, "INDEXING"):
                by_id = {record.id: vector for record, vector in zip(records, vectors, strict=True)}
                await collection.add_vectors(source.user_id, by_id)
                await asyncio.to_thread(catalogue.advance, source.version, stop)
        await collection.flush()
        await asyncio.to_thread(catalogue.complete, source.version)
        await self._versions.clear()
