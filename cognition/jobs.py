"""Work that goes on after the run that began it."""

import asyncio
import logging
from collections.abc import Coroutine
from contextvars import Context
from typing import Any

logger = logging.getLogger(__name__)


class Jobs:
    """The background tasks of a process. What they do must be safe to begin again after a crash."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, object], name: str) -> asyncio.Task[Any]:
        """Begin work on this event loop, detached from the run: its stream and its thread are not the work's.

        Args:
            work: What to do.
            name: Under which it is found by `runs`, and a failure is logged.
        """
        task = asyncio.get_running_loop().create_task(work, name=name, context=Context())
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def runs(self, name: str) -> bool:
        """Whether work of this name is going on."""
        return any(task.get_name() == name for task in self._running)

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
        return {task for task in self._running if task.get_loop() is here}

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("%s failed", task.get_name(), exc_info=error)
