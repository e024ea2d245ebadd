"""Steps and routers as graphs take them: on the event loop, and with `.invoke` on one of their own."""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from threading import Thread
from typing import Any, Final, ParamSpec, TypeVar

LAST_STEP: Final = 5.0
"""Seconds that the last step of the loop may take when the process ends."""

P = ParamSpec("P")
T = TypeVar("T")


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop that blocking steps run on; what they opened is closed there too."""
    return asyncio.run_coroutine_threadsafe(coroutine, background_loop()).result()


@cache
def background_loop() -> asyncio.AbstractEventLoop:
    """One loop for the whole process: clients keep a connection pool per loop."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="cognition-steps", daemon=True)
    thread.start()
    # Before the executors end, as `atexit` is not: a step that then needs a thread can crash the process.
    threading._register_atexit(_stop, loop, thread)  # type: ignore[attr-defined]
    return loop


def _stop(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    """Give up what still runs on the loop, and end it."""

    async def give_up() -> None:
        if rest := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in rest:
                task.cancel()
            await asyncio.wait(rest, timeout=LAST_STEP)
        loop.stop()

    asyncio.run_coroutine_threadsafe(give_up(), loop)
    thread.join(2 * LAST_STEP)
