"""The checkpointers of one process: one per event loop that runs graphs, all on the same home folder."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from cognition.storage.sqlite.checkpointer import ThreadSaver, open_checkpointer


class CheckpointerPool:
    """A pool that opens one checkpointer, with its own connection, per event loop on first use.

    Args:
        home: The home folder.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._opening: dict[asyncio.AbstractEventLoop, asyncio.Task[ThreadSaver]] = {}
        self._opened = AsyncExitStack()

    async def saver(self) -> ThreadSaver:
        """Return the checkpointer of the running event loop."""
        loop = asyncio.get_running_loop()
        opening = self._opening.get(loop)
        if opening is None or (opening.done() and (opening.cancelled() or opening.exception())):
            opening = loop.create_task(self._opened.enter_async_context(open_checkpointer(self._home)))
            self._opening[loop] = opening
        return await asyncio.shield(opening)

    async def aclose(self) -> None:
        """Close all checkpointers, including those of other event loops. Safe to call more than once."""
        self._opening.clear()
        await self._opened.aclose()
