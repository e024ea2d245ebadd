"""Which threads of sub-agents this process is at work on, and the way to stop it."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from cognition.errors import Refused
from cognition.storage.agent_threads import AgentThread

STOP_SECONDS: Final = 30
"""How long whoever closes a chat waits for the work on its threads to end."""

T = TypeVar("T")


class ThreadBusy(Refused):
    """The thread is at work on something else."""


class ThreadStopped(Refused):
    """The thread was at work when its chat was closed."""


@dataclass
class _Claim:
    """Work on a thread."""

    thread: AgentThread
    work: asyncio.Task[Any]
    loop: asyncio.AbstractEventLoop
    stopped: bool = False
    over: Future[None] = field(default_factory=Future)

    def stop(self) -> None:
        """Have the work given up, on whatever event loop it is."""
        self.stopped = True
        self.loop.call_soon_threadsafe(self.work.cancel)


class Claims:
    """The work of one process. Its event loops may share it."""

    def __init__(self) -> None:
        self._claims: dict[str, _Claim] = {}

    def holds(self, thread: AgentThread) -> bool:
        """Whether a thread is at work; one that is not, and says so, was cut off."""
        return thread.key in self._claims

    async def run(self, thread: AgentThread, work: Coroutine[Any, Any, T]) -> T:
        """Do work on a thread, while nobody else may.

        Args:
            thread: Whose.
            work: What is to be done; it is not begun when the thread is busy.

        Raises:
            ThreadBusy: It is at work already.
            ThreadStopped: Its chat was closed meanwhile.
        """
        task = asyncio.ensure_future(work)
        claim = _Claim(thread, task, asyncio.get_running_loop())
        if self._claims.setdefault(thread.key, claim) is not claim:
            task.cancel()
            msg = (
                f"The sub-agent {thread.sub_sid!r} is at work: call it again when it has answered, or "
                "leave sub_sid empty for another one."
            )
            raise ThreadBusy(msg)
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if not claim.stopped or (caller and caller.cancelling()):
                raise
            msg = "The chat was closed, and with it the sub-agent that was at work: nothing of it stays."
            raise ThreadStopped(msg) from None
        finally:
            del self._claims[thread.key]
            claim.over.set_result(None)

    async def stop(self, user_id: str, chat_id: str) -> None:
        """Stop all work on the threads of a chat, and wait until it has ended.

        Raises:
            ThreadBusy: Some has not ended in `STOP_SECONDS`.
        """
        place = (user_id, chat_id)
        claims = [c for c in list(self._claims.values()) if (c.thread.user_id, c.thread.chat_id) == place]
        for claim in claims:
            claim.stop()
        if not claims:
            return
        ends = [asyncio.wrap_future(claim.over) for claim in claims]
        _, rest = await asyncio.wait(ends, timeout=STOP_SECONDS)
        if rest:
            msg = f"{len(rest)} of the chat's sub-agents can't be stopped yet: close it again in a moment."
            raise ThreadBusy(msg)
