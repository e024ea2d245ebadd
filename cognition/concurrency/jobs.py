"""Background jobs, which continue after the run that started them."""

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from contextvars import Context
from typing import Any

logger = logging.getLogger(__name__)


class Jobs:
    """The background jobs of a process. A job must be safe to restart after a crash."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Any], frozenset[str]] = {}

    def start(
        self, work: Coroutine[Any, Any, object], name: str, about: Iterable[str] = ()
    ) -> asyncio.Task[Any]:
        """Start a job on the running event loop, detached from the current run, its stream and its thread.

        Args:
            work: The coroutine to run.
            name: Name of the job in the log, should it fail.
            about: Ids of what the job works on.
        """
        task = asyncio.get_running_loop().create_task(work, name=name, context=Context())
        self._running[task] = frozenset(about)
        task.add_done_callback(self._ended)
        return task

    def is_busy(self, id_: str) -> bool:
        """Return True if a job works on this id."""
        return any(id_ in about for about in list(self._running.values()))

    def jobs_on(self, ids: Iterable[str]) -> set[asyncio.Task[Any]]:
        """Return the jobs of the running event loop that work on any of these ids."""
        id_set = set(ids)
        return {task for task in self._of_this_loop() if self._running[task] & id_set}

    async def finish(self) -> None:
        """Wait for the jobs of the running event loop, including jobs that they start."""
        while tasks := self._of_this_loop():
            await asyncio.wait(tasks)

    async def aclose(self) -> None:
        """Cancel the jobs of the running event loop; the next request for the same work restarts it."""
        for task in self._of_this_loop():
            task.cancel()
        await self.finish()

    def _of_this_loop(self) -> set[asyncio.Task[Any]]:
        loop = asyncio.get_running_loop()
        return {task for task in list(self._running) if task.get_loop() is loop}

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._running[task]
        if not task.cancelled() and (error := task.exception()):
            logger.error("%s failed", task.get_name(), exc_info=error)
