"""Locks by key."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from threading import Lock


class KeyedLocks:
    """One lock per key. Unlike asyncio locks, they work across event loops; waiting can be cancelled."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, Lock] = {}

    @asynccontextmanager
    async def lock(self, key: Hashable) -> AsyncIterator[None]:
        """Hold the lock of a key during the block; wait until it is free."""
        lock = self._locks.setdefault(key, Lock())
        while not lock.acquire(blocking=False):  # noqa: ASYNC110  # an asyncio.Event belongs to one loop
            await asyncio.sleep(0.005)
        try:
            yield
        finally:
            lock.release()
