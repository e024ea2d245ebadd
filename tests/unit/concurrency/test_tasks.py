"""Worker pools: all items are processed, and if one worker fails, the others are cancelled."""

import asyncio

import pytest

from cognition.concurrency.tasks import run_workers


async def test_what_they_share_is_done_once() -> None:
    remaining, done = iter(range(100)), []

    async def work() -> None:
        for item in remaining:
            await asyncio.sleep(0)
            done.append(item)

    await run_workers(work, 3)
    assert sorted(done) == list(range(100))


async def test_when_one_fails_the_others_are_ended_and_its_error_is_told() -> None:
    numbers, ended = iter(range(3)), list[str]()

    async def work() -> None:
        if next(numbers) == 2:
            raise OSError("no space left")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    with pytest.raises(OSError, match="no space left"):
        await run_workers(work, 3)
    assert ended == ["cancelled"] * 2


async def test_who_waits_for_them_ends_them_when_cancelled() -> None:
    begun, ended = asyncio.Event(), list[str]()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    waiting = asyncio.ensure_future(run_workers(work, 2))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["cancelled"] * 2
