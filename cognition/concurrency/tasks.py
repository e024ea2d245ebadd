"""Helpers for asyncio tasks: worker pools and protection from cancellation."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_workers(work: Callable[[], Coroutine[object, object, None]], count: int) -> None:
    """Run several workers until all have finished. If one fails, cancel the others and raise its error.

    Args:
        work: Creates a worker, which takes items from a shared source until none are left.
        count: Number of workers.
    """
    tasks = [asyncio.ensure_future(work()) for _ in range(count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await wait_despite_cancel(asyncio.gather(*tasks, return_exceptions=True))


async def wait_despite_cancel(work: asyncio.Future[T]) -> T:
    """Wait for a future and return its result, even if the wait is cancelled, possibly several times.

    Raises:
        asyncio.CancelledError: If the wait was cancelled. Raised only after the future is done.
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
    """Decorate a coroutine function so that its calls finish even if they are cancelled."""

    @wraps(method)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        return await wait_despite_cancel(asyncio.ensure_future(method(*args, **kwargs)))

    return wrapper
