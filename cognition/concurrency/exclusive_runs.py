"""Exclusive runs: at most one per key at a time, and all runs of a group can be stopped."""

import asyncio
from collections.abc import Coroutine, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from cognition.errors import InvalidInput

STOP_SECONDS: Final = 30
"""Seconds to wait for the runs of a group to end."""

T = TypeVar("T")


class RunBusy(InvalidInput):
    """The key already has a run, or a run did not stop in time."""


class RunStopped(InvalidInput):
    """The run was stopped together with its group."""


@dataclass
class _Run:
    """A run in progress."""

    group: Hashable
    task: asyncio.Task[Any]
    loop: asyncio.AbstractEventLoop
    stopped: bool = False
    ended: Future[None] = field(default_factory=Future)

    def stop(self) -> None:
        """Cancel the run. Works from any event loop."""
        self.stopped = True
        self.loop.call_soon_threadsafe(self.task.cancel)


class ExclusiveRuns:
    """The exclusive runs of one process, across its event loops."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    def is_running(self, key: str) -> bool:
        """Return True if the key has a run in this process."""
        return key in self._runs

    async def run(self, key: str, group: Hashable, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine as the only run of its key.

        Args:
            key: The key; identifies what the run works on.
            group: The group to which the run belongs; see `stop_group`.
            work: The coroutine to run; not started if the key is busy.

        Raises:
            RunBusy: If the key already has a run.
            RunStopped: If the group was stopped during the run.
        """
        task = asyncio.ensure_future(work)
        run = _Run(group, task, asyncio.get_running_loop())
        if self._runs.setdefault(key, run) is not run:
            task.cancel()
            raise RunBusy(f"{key!r} is busy. Try again when its current run has ended.")
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if not run.stopped or (caller and caller.cancelling()):
                raise
            raise RunStopped(f"The run of {key!r} was stopped.") from None
        finally:
            del self._runs[key]
            run.ended.set_result(None)

    async def stop_group(self, group: Hashable) -> None:
        """Stop all runs of a group and wait until they have ended.

        Raises:
            RunBusy: If some have not ended within `STOP_SECONDS`.
        """
        runs = [run for run in list(self._runs.values()) if run.group == group]
        for run in runs:
            run.stop()
        if not runs:
            return
        ends = [asyncio.wrap_future(run.ended) for run in runs]
        _, pending = await asyncio.wait(ends, timeout=STOP_SECONDS)
        if pending:
            msg = (
                f"{len(pending)} of the chat's sub-agents did not stop within {STOP_SECONDS} seconds. "
                "Close the session again."
            )
            raise RunBusy(msg)
