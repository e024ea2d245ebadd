"""Several of the same coroutine at work on one thing."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_workers(work: Callable[[], Coroutine[object, object, None]], count: int) -> None:
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
        await wait_despite_cancel(asyncio.gather(*tasks, return_exceptions=True))


async def wait_despite_cancel(work: asyncio.Future[T]) -> T:
    """What comes of something, waited for however often the waiting is cancelled: some cancel on and on.

    Raises:
        asyncio.CancelledError: The waiting was cancelled; the work has come to its end all the same.
    """
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return work.result()


def uninterruptible(
    method: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """A coroutine function whose calls are not left half-way when they are cancelled."""

    @wraps(method)
    async def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        return await wait_despite_cancel(asyncio.ensure_future(method(*args, **kwargs)))

    return whole
