"""The checkpointers of one process over one folder: one for each event loop that graphs run on."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from cognition.storage.sqlite.checkpointer import ThreadSaver, open_checkpointer


class CheckpointerPool:
    """Opens a checkpointer when a loop first asks for one; each has a connection of its own.

    Args:
        home: The folder that holds everything stored.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._opening: dict[asyncio.AbstractEventLoop, asyncio.Task[ThreadSaver]] = {}
        self._opened = AsyncExitStack()

    async def saver(self) -> ThreadSaver:
        """The checkpointer of this event loop."""
        loop = asyncio.get_running_loop()
        opening = self._opening.get(loop)
        if opening is None or (opening.done() and (opening.cancelled() or opening.exception())):
            opening = loop.create_task(self._opened.enter_async_context(open_checkpointer(self._home)))
            self._opening[loop] = opening
        return await asyncio.shield(opening)

    async def aclose(self) -> None:
        """Close them all, those of other loops too; safe to call again."""
        self._opening.clear()
        await self._opened.aclose()
