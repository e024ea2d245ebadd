"""Several of the same coroutine at work on one thing."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


async def side_by_side(work: Callable[[], Coroutine[object, object, None]], count: int) -> None:
    """Run `count` of them until all are done; when one fails the others are cancelled, and the error is its.

    Args:
        work: Makes one; it takes what is next to do from what they share, until nothing is left.
        count: How many.
    """
    tasks = [asyncio.ensure_future(work()) for _ in range(count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await wait_out(asyncio.gather(*tasks, return_exceptions=True))


async def wait_out(work: asyncio.Future[Any]) -> None:
    """Wait for something to its end, however often the waiting is cancelled: some cancel again and again."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    work.result()
