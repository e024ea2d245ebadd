"""One run per key at a time, and a way to stop all runs of a group."""

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
    """The key has a run already, or a run does not stop."""


class RunStopped(InvalidInput):
    """The run was stopped with its group."""


@dataclass
class _Run:
    """A run in progress."""

    group: Hashable
    task: asyncio.Task[Any]
    loop: asyncio.AbstractEventLoop
    stopped: bool = False
    over: Future[None] = field(default_factory=Future)

    def stop(self) -> None:
        """Cancel the run, on whichever event loop it is."""
        self.stopped = True
        self.loop.call_soon_threadsafe(self.task.cancel)


class ExclusiveRuns:
    """The runs of one process, shared by its event loops."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    def is_running(self, key: str) -> bool:
        """Return whether a key has a run in this process."""
        return key in self._runs

    async def run(self, key: str, group: Hashable, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` as the only run of its key.

        Args:
            key: What the run works on.
            group: The runs it is stopped with.
            work: What to run; not started when the key is busy.

        Raises:
            RunBusy: The key has a run already.
            RunStopped: The group was stopped meanwhile.
        """
        task = asyncio.ensure_future(work)
        run = _Run(group, task, asyncio.get_running_loop())
        if self._runs.setdefault(key, run) is not run:
            task.cancel()
            raise RunBusy(f"{key!r} is busy: try again when its run has ended.")
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if not run.stopped or (caller and caller.cancelling()):
                raise
            raise RunStopped(f"The run of {key!r} was stopped.") from None
        finally:
            del self._runs[key]
            run.over.set_result(None)

    async def stop_group(self, group: Hashable) -> None:
        """Stop all runs of a group and wait until they have ended.

        Raises:
            RunBusy: Some have not ended within `STOP_SECONDS`.
        """
        runs = [run for run in list(self._runs.values()) if run.group == group]
        for run in runs:
            run.stop()
        if not runs:
            return
        ends = [asyncio.wrap_future(run.over) for run in runs]
        _, rest = await asyncio.wait(ends, timeout=STOP_SECONDS)
        if rest:
            msg = (
                f"{len(rest)} of the chat's sub-agents did not stop within {STOP_SECONDS} s: close it again."
            )
            raise RunBusy(msg)
