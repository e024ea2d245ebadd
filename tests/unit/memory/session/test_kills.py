"""Session memory of processes that are killed: nothing is half there, and work goes on."""

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
"""Between the last save that was told and a kill, times the number of the kill: three different points."""


def killed(home: Path, number: int) -> int:
    """Let a process save, and kill it; the number of its last save that was done."""
    command = [sys.executable, "-m", "tests.unit.memory.session.killing_saves", str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        told = [process.stdout.readline(), process.stdout.readline()]
        try:
            process.wait(SECONDS * number)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
        told += process.stdout.read().splitlines(keepends=True)
    return int([line for line in told if line.endswith("\n")][-1])


async def test_p60_a_kill_at_any_point_leaves_the_old_text_or_the_new_one_whole(tmp_path: Path) -> None:
    embedded = 0
    for kill in range(KILLS):
        done = await asyncio.to_thread(killed, tmp_path, kill)
        services = Services(Settings(home=tmp_path))
        session = await services.session()
        (source,) = [s for s in (await session.sources("ada", "c")).sources if s.source_id == "fruit"]
        found = await session.search("ada", "c", "grams", source_id="fruit", limit=100, max_tokens=100_000)
        assert [passage.text for passage in found.passages] in ([text_of(done)], [text_of(done + 1)])
        large = await session.source("ada", "c", "large")
        assert large
        points = await session._collection.count(Filter("ada"))
        assert points == source.chunks + large.chunks, "a crash leaves no point behind"
        assert large.embedded >= embedded, "the embedding goes on where it was"
        embedded = large.embedded
        if kill == KILLS - 1:
            await session.indexed()
            large = await session.source("ada", "c", "large")
            assert large
            assert large.state == "READY"
            assert len(await session.vectors("ada", "c", "large", range(large.chunks))) == large.chunks
        await services.aclose()
