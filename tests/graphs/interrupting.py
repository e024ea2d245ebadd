"""Kill an ingestion before its row is written and at each event, and resume it in another process.

Run: python -m tests.graphs.interrupting FOLDER
Prints JSON: the steps at which it was killed, the results that differ from those of an uninterrupted run,
and the expected result.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cognition.context import BoundContext
from cognition.embedding import load_embedder
from cognition.services import Services
from cognition.settings import Settings
from graphs.ingestion import graph

CONFIG: Any = {"configurable": {"thread_id": "c"}}
SHIPS = ("Albatros", "Licorne", "Hermine", "Boussole", "Astrolabe", "Belle Poule", "Surveillante")
WEATHER = ("fog until noon", "a gale from the west", "hard frost", "rain and a high sea", "calm and sun")
TEXT = "\n\n".join(
    f"## Day {day}\n\nOn day {day} the {SHIPS[day % 7]} lay off Brest with {day * 7} men on board; the log "
    f"of her master says {WEATHER[day % 5]}, and that {day % 11} casks of water were taken in."
    for day in range(1, 20)
)
FILE = {"name": "log.md", "data": f"data:text/markdown,{TEXT}"}


async def ingest(home: Path, die_at: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Ingest the file, or resume the pending resources, and return everything that a user can see of it."""
    services = Services(Settings(home=home, context_file_bytes=1_000, summary_excerpts=3))
    registry = await services.registry()
    if die_at == 0:
        database = await services.database()
        database._connection.set_trace_callback(lambda sql: "INSERT" in sql and die("receive", report))
    pending = registry.find("ada", "c", status="PENDING_INGESTION")
    files = [{"resource_id": one.id} for one in pending] or [FILE]
    context = BoundContext(user_id="ada", bound=services)
    seen = 0
    stream = graph.astream({"files": files}, CONFIG, context=context, stream_mode="custom", subgraphs=True)
    async for _, event in stream:
        seen += 1
        if seen == die_at:
            die(str(event.get("step") or event.get("status")), report)
    result = await outcome(services)
    await services.aclose()
    return result


def die(step: str, report: Callable[[str], None]) -> None:
    report(step)
    os.kill(os.getpid(), signal.SIGKILL)


async def outcome(services: Services) -> dict[str, Any]:
    registry, session = await services.registry(), await services.session()
    rows = registry.find("ada", "c")
    listing = await session.sources("ada", "c")
    numbers = range(sum(source.chunks for source in listing.sources))
    places = [("ada", "c", source.source_id, numbers) for source in listing.sources]
    return {
        "rows": [(row.name, row.status, row.summary, row.chunks, row.error) for row in rows],
        "texts": [services.files.text(row).read_text() == TEXT for row in rows],
        "sources": [(source.chunks, source.state) for source in listing.sources],
        "chunks": [chunk.text for place in places for chunk in await session.chunks(*place)],
        "vectors": [len(await session.vectors(*place)) for place in places],
        "files": len([path for path in (services.settings.home / "files").rglob("*") if path.is_file()]),
    }


def forked(home: Path, die_at: int = -1) -> tuple[bool, str]:
    """Ingest in a child process; return whether it finished, and its result or last step."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        result = asyncio.run(ingest(home, die_at, lambda step: os.write(writing, step.encode()) and None))
        os.write(writing, json.dumps(result).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        output = pipe.read()
    return os.waitpid(process, 0)[1] == 0, output


def main(folder: Path) -> None:
    load_embedder(Settings().session_embedding, folder)
    _, expected = forked(folder / "whole")
    killed: list[str] = []
    wrong: list[str] = []
    while True:
        home = folder / str(len(killed))
        finished, step = forked(home, die_at=len(killed))
        if finished:
            break
        killed.append(step)
        finished, result = forked(home)
        if not finished or result != expected:
            wrong.append(f"after {step}: {result}")
    sys.stdout.write(json.dumps({"killed": killed, "wrong": wrong, "expected": json.loads(expected)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
