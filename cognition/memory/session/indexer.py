"""The embeddings of large sources, added in the background while their words are searchable already."""

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
"""Chunks between two notes of how far the work is: what a crash costs."""


class Indexer:
    """Embeds what is INDEXING, one source after the other, from where the last process stopped.

    Args:
        versions: The points and their catalogue.
        embedder: The model.
    """

    def __init__(self, versions: VersionedPoints, embedder: Embedder) -> None:
        self._versions = versions
        self._embedder = embedder
        self._one_at_a_time = asyncio.Lock()  # of the background loop only
        self._running: set[Future[None]] = set()

    def start(self) -> None:
        """See to what waits now, on the loop that outlives the caller's."""
        running = asyncio.run_coroutine_threadsafe(self._work(), background_loop())
        self._running.add(running)
        running.add_done_callback(self._ended)

    def see_to_it(self) -> None:
        """Go on with what waits, unless that is being done: a failure ended it, and may have passed."""
        if not self._running:
            self.start()

    def _ended(self, running: Future[None]) -> None:
        self._running.discard(running)
        if not running.cancelled() and (error := running.exception()):
            logger.error("embedding in the background failed; the next search goes on", exc_info=error)

    async def finish(self) -> None:
        """Wait until everything is embedded."""
        # Who gives up waiting ends nothing.
        await asyncio.gather(*(asyncio.shield(asyncio.wrap_future(one)) for one in list(self._running)))

    async def aclose(self) -> None:
        """Stop after the batch at work; the next start goes on there."""
        for running in list(self._running):
            running.cancel()
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._idle(), background_loop()))

    async def _idle(self) -> None:
        async with self._one_at_a_time:
            return

    async def _work(self) -> None:
        async with self._one_at_a_time:
            while source := await asyncio.to_thread(self._versions.catalogue.waiting):
                try:
                    await self._embed(source)
                except InvalidInput:
                    continue  # it was removed meanwhile: the next

    async def _embed(self, source: Source) -> None:
        catalogue, collection = self._versions.catalogue, self._versions.collection
        for start in range(source.embedded, source.chunks, BATCH):
            stop = min(start + BATCH, source.chunks)
            ids = [point_id(source.version, index) for index in range(start, stop)]
            records = await collection.retrieve(source.user_id, ids)
            texts = [SourceChunk.from_payload(record.payload).embedded_text for record in records]
            vectors = await self._embedder.aembed(texts, "passage")
            async with self._versions.in_state(source.version, "INDEXING"):
                found = {record.id: vector for record, vector in zip(records, vectors, strict=True)}
                await collection.add_vectors(source.user_id, found)
                await asyncio.to_thread(catalogue.advance, source.version, stop)
        await collection.flush()
        await asyncio.to_thread(catalogue.complete, source.version)
        await self._versions.clear()
