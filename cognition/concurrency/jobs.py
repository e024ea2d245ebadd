"""Work that goes on after the run that began it."""

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from contextvars import Context
from typing import Any

logger = logging.getLogger(__name__)


class Jobs:
    """The background tasks of a process. What they do must be safe to begin again after a crash."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Any], frozenset[str]] = {}

    def start(
        self, work: Coroutine[Any, Any, object], name: str, about: Iterable[str] = ()
    ) -> asyncio.Task[Any]:
        """Begin work on this event loop, detached from the run: its stream and its thread are not the work's.

        Args:
            work: What to do.
            name: Under which a failure is logged.
            about: The ids of what it is at.
        """
        task = asyncio.get_running_loop().create_task(work, name=name, context=Context())
        self._running[task] = frozenset(about)
        task.add_done_callback(self._ended)
        return task

    def is_at(self, id_: str) -> bool:
        """Whether some work on this is going on."""
        return any(id_ in about for about in list(self._running.values()))

    def at(self, ids: Iterable[str]) -> set[asyncio.Task[Any]]:
        """The work of this event loop on any of these."""
        wanted = set(ids)
        return {task for task in self._of_this_loop() if self._running[task] & wanted}

    async def finish(self) -> None:
        """Wait for what runs on this event loop, and for what that starts."""
        while tasks := self._of_this_loop():
            await asyncio.wait(tasks)

    async def aclose(self) -> None:
        """Give up what runs on this event loop; it is taken up again when it is next asked for."""
        for task in self._of_this_loop():
            task.cancel()
        await self.finish()

    def _of_this_loop(self) -> set[asyncio.Task[Any]]:
        here = asyncio.get_running_loop()
        return {task for task in list(self._running) if task.get_loop() is here}

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._running[task]
        if not task.cancelled() and (error := task.exception()):
            logger.error("%s failed", task.get_name(), exc_info=error)
