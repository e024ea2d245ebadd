"""A background event loop that runs async graph steps when a graph is called with `.invoke`."""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from threading import Thread
from typing import Any, Final, ParamSpec, TypeVar

SHUTDOWN_SECONDS: Final = 5.0
"""Seconds that cancelled steps may take to end when the process exits."""

P = ParamSpec("P")
T = TypeVar("T")


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop and return its result. Blocking.

    Anything that blocking steps have opened must be closed on the same loop.
    """
    return asyncio.run_coroutine_threadsafe(coroutine, background_loop()).result()


@cache
def background_loop() -> asyncio.AbstractEventLoop:
    """Return the background loop. A process has only one, because clients keep a connection pool per loop."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="cognition-steps", daemon=True)
    thread.start()
    # `atexit` would run after the executors shut down, when a step that needs a thread can crash the process.
    threading._register_atexit(_stop, loop, thread)  # type: ignore[attr-defined]
    return loop


def _stop(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    """Cancel the tasks that still run on the loop, and stop it."""

    async def cancel_all() -> None:
        if remaining := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in remaining:
                task.cancel()
            await asyncio.wait(remaining, timeout=SHUTDOWN_SECONDS)
        loop.stop()

    asyncio.run_coroutine_threadsafe(cancel_all(), loop)
    thread.join(2 * SHUTDOWN_SECONDS)
