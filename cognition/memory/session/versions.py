"""Versioned points: the points of a removed version are deleted only once no reader may need them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from cognition.errors import InvalidInput
from cognition.memory.session.catalog import SourceTable, State
from cognition.vectors import Filter, VectorCollection

GONE: Final = "The source was deleted while it was being saved. Save it again if you still need it."


class VersionedPoints:
    """The points of session memory, and the catalogue of their versions.

    Args:
        collection: The points.
        catalogue: The catalogue, which determines the visible versions.
    """

    def __init__(self, collection: VectorCollection, catalogue: SourceTable) -> None:
        self.collection = collection
        self.catalogue = catalogue
        self._active: set[object] = set()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the points of the versions visible at the start of the block until its end."""
        user = object()
        self._active.add(user)
        try:
            yield
        finally:
            self._active.discard(user)

    @asynccontextmanager
    async def in_state(self, version: int, state: State) -> AsyncIterator[None]:
        """Run a block that changes the points of a version, which must be in the given state.

        Raises:
            InvalidInput: If the version is in another state because it was removed meanwhile.
        """
        with self.in_use():
            if await asyncio.to_thread(self.catalogue.state, version) != state:
                raise InvalidInput(GONE)
            yield

    async def clear(self) -> None:
        """Delete the points of removed versions, once all blocks that may be using them have ended."""
        removed = await asyncio.to_thread(self.catalogue.removed)
        before = set(self._active)
        while before & self._active:  # noqa: ASYNC110  # an asyncio.Event is bound to one loop
            await asyncio.sleep(0.002)
        for source in removed:
            await self.collection.delete(Filter(source.user_id, equals={"version": source.version}))
            await asyncio.to_thread(self.catalogue.forget, source.version)
