"""Background jobs, which continue after the run that started them."""

import asyncio
import logging
from contextvars import ContextVar

import pytest

from cognition.concurrency.jobs import Jobs

RUN: ContextVar[str] = ContextVar("RUN", default="none")


async def test_finish_waits_for_what_runs_and_for_what_that_starts() -> None:
    jobs, done = Jobs(), []

    async def second() -> None:
        done.append("second")

    async def first() -> None:
        await asyncio.sleep(0)
        jobs.start(second(), "second")
        done.append("first")

    jobs.start(first(), "first", ["a file"])
    assert jobs.is_busy("a file")
    await jobs.finish()
    assert done == ["first", "second"]
    assert not jobs.is_busy("a file")


async def test_a_failure_is_logged_and_stops_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    jobs, done = Jobs(), asyncio.Event()

    async def fail() -> None:
        raise OSError("disk full")

    async def work() -> None:
        done.set()

    jobs.start(fail(), "indexing chat 1")
    jobs.start(work(), "work")
    with caplog.at_level(logging.ERROR):
        await jobs.finish()
    assert done.is_set()
    assert "indexing chat 1 failed" in caplog.text
    assert "disk full" in caplog.text


async def test_closing_gives_up_what_would_never_end() -> None:
    jobs = Jobs()
    endless = jobs.start(asyncio.Event().wait(), "endless")
    await jobs.aclose()
    assert endless.cancelled()


async def test_work_does_not_see_the_run_that_began_it() -> None:
    jobs, seen = Jobs(), []
    RUN.set("a turn")

    async def look() -> None:
        seen.append(RUN.get())

    jobs.start(look(), "look")
    await jobs.finish()
    assert seen == ["none"]
