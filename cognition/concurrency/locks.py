"""One writer at a time for each thing that is written."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from threading import Lock


class KeyedLocks:
    """A lock for each key, which works over event loops, unlike one of asyncio, and can be cancelled."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, Lock] = {}

    @asynccontextmanager
    async def held(self, key: Hashable) -> AsyncIterator[None]:
        """Wait until nobody else holds the key."""
        lock = self._locks.setdefault(key, Lock())
        while not lock.acquire(blocking=False):  # noqa: ASYNC110  # an asyncio.Event belongs to one loop
            await asyncio.sleep(0.005)
        try:
            yield
        finally:
            lock.release()
