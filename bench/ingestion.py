"""Ingestion into session memory: compared with the model alone, in parallel, and with a large file.

Run: python -m bench.ingestion   (`python -m bench.ingestion 10` for a large file of 10 MB instead of 100)
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Awaitable
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter

from bench.chunking import book, printed
from bench.recall import questions
from bench.report import report
from cognition.documents.chunking import chunks
from cognition.documents.extraction import extract
from cognition.documents.file_type import kind_of
from cognition.memory.session.store import SessionMemory
from cognition.services import Services
from cognition.settings import Settings

ROUNDS, CHARACTERS = 12, 400_000
TOKENS = 150_000
MEGABYTES = 100
PAGES = 300
Row = tuple[str, str, str]


def prose(characters: int, name: str = "text") -> str:
    """Return French prose of this length, with distinct paragraphs."""
    passages, _, _ = questions()
    numbered = (f"{name} {n}. {passage}" for n, passage in enumerate(cycle(passages)))
    return "\n\n".join(islice(numbered, characters // 700 + 1))[:characters]


async def seconds(work: Awaitable[object]) -> float:
    """Return the seconds that a coroutine takes."""
    started = perf_counter()
    await work
    return perf_counter() - started


async def beside_the_model(session: SessionMemory) -> list[Row]:
    """Measure ingesting texts, and only embedding the same chunks, alternately."""
    embedder = session._embedder
    entire, added, saved, parts = [], [], [], 0
    for turn in range(ROUNDS):
        text = prose(CHARACTERS, f"round {turn}")
        cut = list(chunks([text], embedder))
        parts += len(cut)
        entire.append(await seconds(embedder.aembed([chunk.text for chunk in cut], "passage")))
        added.append(await seconds(embedder.aembed([chunk.text[chunk.shared :] for chunk in cut], "passage")))
        saved.append(await seconds(session.save("bench", "c", f"s{turn}", text)))
    rates = [f"{parts / sum(took):.0f}" for took in (entire, added, saved)]
    return [
        (f"the model alone on {parts:,} chunks, chunks/s", rates[0], "1.00"),
        (
            "the model alone on the same chunks without their overlaps, chunks/s",
            rates[1],
            middle(entire, added),
        ),
        (
            f"saving the same texts ({CHARACTERS:,} characters each), chunks/s",
            rates[2],
            middle(entire, saved),
        ),
    ]


def middle(numerators: list[float], denominators: list[float]) -> str:
    """Return the median of the rounds' ratios, which a briefly busy host does not distort."""
    return f"{median(a / b for a, b in zip(numerators, denominators, strict=True)):.2f}"


async def many_tokens(session: SessionMemory) -> list[Row]:
    """Measure the time until a search finds the end of a long text."""
    per_character = session._embedder.count_tokens(prose(4_000)) / 4_000
    text = prose(int(TOKENS / per_character), "long")

    async def until_searchable() -> None:
        await session.save("bench", "c", "long", text)
        assert (await session.search("bench", "c", text[-300:], source_id="long")).passages

    return [(f"{TOKENS:,} tokens until searchable, s", f"{await seconds(until_searchable()):.1f}", "")]


async def many_pages(session: SessionMemory) -> list[Row]:
    """Measure the text extraction of a PDF, and the time until a search finds its text."""
    with tempfile.TemporaryDirectory() as folder:
        path, text = Path(folder) / "book.pdf", Path(folder) / "text"
        lines = printed()
        path.write_bytes(book(lines, PAGES))
        read = await seconds(asyncio.to_thread(extract, path, kind_of(path), text))

        async def until_searchable() -> None:
            await session.save("bench", "c", "book", text)
            assert (await session.search("bench", "c", lines[45 * PAGES - 50], source_id="book")).passages

        rest = await seconds(until_searchable())
    return [
        (f"extracting the text of a PDF with {PAGES} pages, s", f"{read:.1f}", ""),
        ("that text until searchable, s", f"{rest:.1f}", ""),
    ]


async def two_at_once(session: SessionMemory) -> list[Row]:
    """Measure two texts sequentially and in parallel, alternately."""
    after, at_once = [], []

    async def save(name: str) -> None:
        await session.save("bench", "c", name, prose(CHARACTERS, name))

    for turn in range(ROUNDS):
        after.append(await seconds(save(f"a{turn}")) + await seconds(save(f"b{turn}")))
        at_once.append(await seconds(asyncio.gather(save(f"d{turn}"), save(f"e{turn}"))))
    return [
        (f"two texts in sequence, {ROUNDS} times, s", f"{sum(after):.1f}", "1.00"),
        (f"two texts in parallel, {ROUNDS} times, s", f"{sum(at_once):.1f}", middle(at_once, after)),
    ]


def private() -> float:
    """Return the anonymous memory of this process in MiB."""
    status = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in status if line.startswith("RssAnon")]
    return int(line.split()[1]) / 1024


class Peak:
    """A sampler of the peak anonymous memory."""

    def __init__(self) -> None:
        self.megabytes = private()
        self._stopped = Event()
        self._watching = Thread(target=self._watch, daemon=True)
        self._watching.start()

    def _watch(self) -> None:
        while not self._stopped.wait(0.05):
            self.megabytes = max(self.megabytes, private())

    def stop(self) -> float:
        """Stop sampling and return the peak in MB."""
        self._stopped.set()
        self._watching.join()
        return self.megabytes


def write(path: Path, megabytes: int) -> None:
    """Write a text file of this size, with distinct parts."""
    with path.open("w") as file:
        part = prose(1_000_000)
        while file.tell() < megabytes * 1_000_000:
            file.write(f"{file.tell()} {part}\n\n")


async def large_file(megabytes: int) -> None:
    """Print the memory and time for a large file; runs in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.txt"
        write(path, megabytes)
        services = Services(Settings(home=Path(folder)))
        session = await services.session()
        await session.save("bench", "c", "small", prose(1_000))  # loads the models
        session._indexer.start = lambda: None  # type: ignore[method-assign]  # embedding is measured separately
        loaded, peak = private(), Peak()
        took = await seconds(session.save("bench", "c", "large", path))
        answered = await seconds(session.search("bench", "c", "droits des personnes", source_id="large"))
        print(f"{peak.stop() - loaded:.0f} {took:.0f} {1000 * answered:.0f}")
        await services.aclose()


async def main(megabytes: int) -> None:
    """Measure and print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        services = Services(Settings(home=Path(folder)))
        session = await services.session()
        await session.save("bench", "warm", "s", prose(5_000))
        rows = [
            *await beside_the_model(session),
            *await two_at_once(session),
            *await many_tokens(session),
            *await many_pages(session),
        ]
        await services.aclose()
    command = [sys.executable, "-m", "bench.ingestion", "large", str(megabytes)]
    completed = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    memory, took, answered = completed.stdout.split()
    rows += [
        (f"private memory for a file of {megabytes} MB, beyond the loaded models, MB", memory, ""),
        ("that file until searchable by words, s", took, ""),
        ("a search in it by words, ms", answered, ""),
    ]
    report("ingestion", "Ingestion into session memory", ("measurement", "result", "ratio"), rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["large"]:
        asyncio.run(large_file(int(sys.argv[2])))
    else:
        asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else MEGABYTES))
