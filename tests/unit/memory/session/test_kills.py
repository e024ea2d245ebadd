"""Tests of killed processes: session memory stays consistent, and embedding resumes."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from cognition.services import Services
from cognition.settings import Settings
from cognition.vectors import Filter
from tests.unit.memory.session.killing_saves import text_of

ROOT = Path(__file__).parents[4]
KILLS = 3
SECONDS = 0.13
"""Delay before a kill, multiplied by the number of the kill, so that each hits another point."""


def killed(home: Path, number: int) -> int:
    """Start a process that saves, kill it, and return the number of its last completed save."""
    command = [sys.executable, "-m", "tests.unit.memory.session.killing_saves", str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = [process.stdout.readline(), process.stdout.readline()]
        try:
            process.wait(SECONDS * number)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.read().splitlines(keepends=True)
    return int([line for line in lines if line.endswith("\n")][-1])


async def test_p60_a_kill_at_any_point_leaves_either_the_old_text_or_the_new_one(tmp_path: Path) -> None:
    embedded = 0
    for kill in range(KILLS):
        done = await asyncio.to_thread(killed, tmp_path, kill)
        services = Services(Settings(home=tmp_path))
        session = await services.session()
        (source,) = [s for s in (await session.sources("ada", "c")).sources if s.source_id == "fruit"]
        result = await session.search("ada", "c", "grams", source_id="fruit", limit=100, max_tokens=100_000)
        assert [passage.text for passage in result.passages] in ([text_of(done)], [text_of(done + 1)])
        large = await session.source("ada", "c", "large")
        assert large
        points = await session._collection.count(Filter("ada"))
        assert points == source.chunks + large.chunks, "a crash leaves no points behind"
        assert large.embedded >= embedded, "embedding resumes where it stopped"
        embedded = large.embedded
        if kill == KILLS - 1:
            await session.wait_until_indexed()
            large = await session.source("ada", "c", "large")
            assert large
            assert large.state == "READY"
            assert len(await session.vectors("ada", "c", "large", range(large.chunks))) == large.chunks
        await services.aclose()
