"""Work that goes on after the run that began it."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


class Jobs:
    """The background tasks of a process. What they do must be safe to begin again after a crash."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, object], name: str) -> asyncio.Task[Any]:
        """Begin work on this event loop; a failure is logged under the name."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

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
