"""Growth of a thread's file and turn time over 500 turns with 2 KB questions and 2 KB answers.

Run: python -m bench.checkpoints
"""

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from langchain_core.messages import HumanMessage

from bench.report import report
from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.settings import Settings
from cognition.storage.sqlite.checkpointer import open_checkpointer
from graphs.echo import graph

QUESTION, ANSWER = "Why is that so? " * 128, "Because it is. " * 137
MARKS = (50, 250, 500)


async def main() -> None:
    """Run 500 turns and print the table."""
    script = {"gemini-3.5-flash-lite": [Reply(text=ANSWER)]}
    with RehearsalServer(script) as server, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        keys: dict[str, Any] = {"GOOGLE_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": server.url}
        services = Services(Settings(home=home, **keys))
        context = BoundContext(bound=services)
        times: list[float] = []
        rows: list[tuple[str, ...]] = []
        async with open_checkpointer(home) as saver:
            echo = graph.copy(update={"checkpointer": saver})
            config: Any = {"configurable": {"thread_id": "long"}}
            for turn in range(1, MARKS[-1] + 1):
                started = perf_counter()
                await echo.ainvoke({"messages": [HumanMessage(QUESTION)]}, config, context=context)
                times.append(perf_counter() - started)
                server.requests.clear()
                if turn in MARKS:
                    rows.append((str(turn), *measured(home, times)))
        await services.aclose()
    for index, name in ((1, "size"), (2, "time of a turn")):
        last, first, middle = (float(rows[place][index]) for place in (2, 0, 1))
        rows.append((f"{name}: 500 turns / 250 turns", f"{last / middle:.2f}", ""))
        rows.append((f"{name}: 500 turns / 50 turns", f"{last / first:.2f}", ""))
    columns = ("turns", "file and log, MB", "median of 25 turns, ms")
    report("checkpoints", "A thread of 2 KB questions and 2 KB answers", columns, rows)


def measured(home: Path, times: list[float]) -> tuple[str, str]:
    """Return the size of the thread's files and the time of the last turns."""
    size = sum(path.stat().st_size for path in home.glob("threads.sqlite*"))
    return f"{size / 1e6:.2f}", f"{median(times[-25:]) * 1000:.1f}"


if __name__ == "__main__":
    asyncio.run(main())
