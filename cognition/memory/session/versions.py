"""Versions that are whole for whoever reads them: points leave only when nobody can still want them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from cognition.errors import InvalidInput
from cognition.memory.session.catalog import SourceTable, State
from cognition.vectors import Filter, VectorCollection

GONE: Final = "The source was deleted while it was being saved. Save it again if it is still wanted."


class VersionedPoints:
    """The points of session memory and the catalogue that says which of them are shown.

    Args:
        collection: The points.
        catalogue: Their versions.
    """

    def __init__(self, collection: VectorCollection, catalogue: SourceTable) -> None:
        self.collection = collection
        self.catalogue = catalogue
        self._inside: set[object] = set()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While the block runs, no point of a version that was shown at its start is cleared."""
        here = object()
        self._inside.add(here)
        try:
            yield
        finally:
            self._inside.discard(here)

    @asynccontextmanager
    async def in_state(self, version: int, state: State) -> AsyncIterator[None]:
        """A block that changes the points of a version while it is in a state.

        Raises:
            InvalidInput: It is not in it any more: it was removed meanwhile.
        """
        with self.in_use():
            if await asyncio.to_thread(self.catalogue.state, version) != state:
                raise InvalidInput(GONE)
            yield

    async def clear(self) -> None:
        """Delete the points of removed versions, once all who may be reading or writing them are done."""
        removed = await asyncio.to_thread(self.catalogue.removed)
        before = set(self._inside)
        while before & self._inside:  # noqa: ASYNC110  # an asyncio.Event belongs to one loop
            await asyncio.sleep(0.002)
        for source in removed:
            await self.collection.delete(Filter(source.user_id, equals={"version": source.version}))
            await asyncio.to_thread(self.catalogue.forget, source.version)
