"""Splitting texts and reading documents: speed and losses, compared with other splitters.

Run: python -m bench.chunking
"""

import json
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from textwrap import wrap
from time import perf_counter, process_time

import semchunk
from chonkie import RecursiveChunker
from langchain_text_splitters import MarkdownTextSplitter, RecursiveCharacterTextSplitter
from semantic_text_splitter import MarkdownSplitter

from bench.report import report
from cognition.documents.chunking import Chunk, chunks, split
from cognition.documents.encoding import read_text
from cognition.documents.extraction import extract
from cognition.documents.file_type import kind_of
from cognition.embedding import Embedder, load_embedder
from tests.unit.documents.samples import docx, pdf, xlsx

DATA = Path(__file__).parent / "data"
CHARACTERS, OVERLAP, PASSAGE = 1_600, 200, 200
COUNTED = 400_000
"""Characters of each text to split by tokens; the other libraries would take minutes for all of it."""

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
Ranges = list[tuple[int, int]]
Split = Callable[[str], Sequence[object]]


def pages() -> str:
    """Return the text of 94 pages of French public services."""
    articles = json.loads((DATA / "dila_fiches.json").read_text(encoding="utf-8"))["data"]
    return "\n\n".join(p["context"] for article in articles for p in article["paragraphs"])


def corpus() -> dict[str, str]:
    """Return prose, Markdown, code, a log, and Chinese text."""
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    code = "\n\n".join(path.read_text(encoding="utf-8", errors="replace") for path in library[:60])
    section = "## Section {}\n\n{}\n\n```python\n{}\n```\n\n| key | value |\n|---|---|\n| a | {} |\n"
    markdown = "\n".join(
        section.format(n, part, code[n * 300 : n * 300 + 250].strip(), n)
        for n, part in enumerate(pages().split("\n\n")[:1_500])
    )
    line = "2026-03-01T{:02d}:{:02d}:00Z INFO worker-{} GET /items/{} {} ms\n"
    log = "".join(line.format(n % 24, n % 60, n % 97, n * 7919 % 99991, n % 500) for n in range(12_000))
    chinese = "".join(
        f"第{n}条、人人生而自由、在尊严和权利上一律平等、他们赋有理性和良心。" for n in range(6_000)
    )
    return {"prose": pages(), "markdown": markdown, "code": code, "log": log, "chinese": chinese}


def splitters() -> dict[str, Split]:
    """Return the splitters, each at 1,600 characters, with an overlap of 200 if supported."""
    recursive = RecursiveCharacterTextSplitter(chunk_size=CHARACTERS, chunk_overlap=OVERLAP)
    markdown = MarkdownTextSplitter(chunk_size=CHARACTERS, chunk_overlap=OVERLAP)
    rust = MarkdownSplitter(CHARACTERS, overlap=OVERLAP, trim=False)
    chonkie = RecursiveChunker(tokenizer="character", chunk_size=CHARACTERS)
    return {
        "Cognition": lambda text: list(split([text], len, CHARACTERS)),
        "langchain recursive": recursive.split_text,
        "langchain Markdown": markdown.split_text,
        "chonkie recursive": lambda text: chonkie(text),
        "semchunk": lambda text: semchunk.chunk(text, CHARACTERS, len, memoize=False, overlap=OVERLAP),
        "semantic-text-splitter": rust.chunks,
    }


def ranges(text: str, found: Sequence[object]) -> Ranges:
    """Return the chunks' positions in the text; chunks with changed characters have none."""
    places: Ranges = []
    at = 0
    for chunk in found:
        if isinstance(chunk, Chunk):
            places.append(chunk.chars)
            continue
        content = chunk if isinstance(chunk, str) else str(getattr(chunk, "text", ""))
        start = text.find(content, at)
        if start >= 0:
            places.append((start, start + len(content)))
            at = start + 1
    return places


def lost(text: str, places: Ranges) -> float:
    """Return the share of 200-character passages that lie in no chunk."""
    gaps = [(0, 0), *places, (len(text), len(text))]
    missing = sum(max(0, begin - max(0, end - PASSAGE + 1)) for (_, end), (begin, _) in pairwise(gaps[:-1]))
    return missing / (len(text) - PASSAGE + 1)


def cut_fences(text: str, places: Ranges) -> int:
    """Return the number of code fences that would fit into a chunk but are cut."""
    ends = {end for _, end in places}
    fences = [match.span() for match in FENCE.finditer(text)]
    return sum(any(at in ends for at in range(begin + 1, end)) for begin, end in fences)


def megabytes(text: str) -> float:
    """Return the size of a text in megabytes of UTF-8."""
    return len(text.encode("utf-8", "replace")) / 1e6


def by_characters(texts: dict[str, str]) -> None:
    """Measure splitting by characters, in CPU time because it uses one thread."""
    rows = []
    whole = sum(map(megabytes, texts.values()))
    base = 0.0
    for name, splitter in splitters().items():
        began = process_time()
        found = {kind: splitter(text) for kind, text in texts.items()}
        speed = whole / (process_time() - began)
        base = base or speed
        places = {kind: ranges(texts[kind], some) for kind, some in found.items()}
        total = sum(map(len, found.values()))
        exact = sum(map(len, places.values()))
        passages = sum(lost(texts[kind], some) for kind, some in places.items()) / len(places)
        fences = cut_fences(texts["markdown"], places["markdown"])
        rows.append(
            (name, f"{speed:.1f}", f"{speed / base:.2f}", total, f"{100 * exact / total:.1f}",
             f"{100 * passages:.1f}", fences)
        )  # fmt: skip
    columns = ("splitter", "MB/s", "ratio", "chunks", "% verbatim", "% of passages lost", "fences cut")
    report("chunking", f"Splitting {whole:.1f} MB at {CHARACTERS} characters", columns, rows)


def by_tokens(texts: dict[str, str]) -> None:
    """Measure splitting with the model's own tokenizer."""
    rows = []
    sample = {kind: text[:COUNTED] for kind, text in texts.items()}
    whole = sum(map(megabytes, sample.values()))
    for model in ("e5-small", "use-multilingual"):
        embedder = load_embedder(model, Path())
        for name, splitter in counted(embedder).items():
            began = process_time()
            found = [chunk for text in sample.values() for chunk in splitter(text)]
            speed = whole / (process_time() - began)
            sizes = [embedder.count_tokens(getattr(c, "text", c)) for c in found]
            over = sum(size > embedder.chunk_tokens for size in sizes)
            rows.append(
                (f"{name}, {model}", f"{speed:.2f}", len(found), f"{sum(sizes) / len(sizes):.0f}", over)
            )
    columns = ("splitter, model", "MB/s", "chunks", "tokens, mean", "over the limit")
    report("chunking_tokens", f"Splitting {whole:.1f} MB at the model's size in tokens", columns, rows)


def counted(embedder: Embedder) -> dict[str, Callable[[str], Sequence[object]]]:
    """Return the splitters that take a token counter: ours, and two others with the same counter."""
    limit, count = embedder.chunk_tokens, embedder.count_tokens
    recursive = RecursiveCharacterTextSplitter(chunk_size=limit, chunk_overlap=50, length_function=count)
    return {
        "Cognition": lambda text: list(chunks([text], embedder)),
        "semchunk": lambda text: semchunk.chunk(text, limit, count, memoize=False, overlap=50),
        "langchain recursive": recursive.split_text,
    }


def printed() -> list[str]:
    """Return the lines of `pages`, limited to the characters of a simple PDF."""
    lines = [line.translate(str.maketrans("()\\", "[]/")) for line in wrap(" ".join(pages().split()), 90)]
    return [line.encode("cp1252", "ignore").decode("cp1252") for line in lines]


def book(lines: list[str], count: int) -> bytes:
    """Return a PDF with this many pages of 45 lines."""
    return pdf(["\n".join(lines[n * 45 : n * 45 + 45]) for n in range(count)])


def documents(folder: Path) -> None:
    """Measure reading files, each in its own process."""
    lines = printed()
    files = {
        "PDF, 300 pages": ("a.pdf", book(lines, 300)),
        "DOCX, 6,000 paragraphs": (
            "a.docx",
            docx("Pages", [line.replace("&", "") for line in lines[:6_000]]),
        ),
        "XLSX, 20,000 rows": ("a.xlsx", xlsx({"Rows": [[n, f"name {n}", n * 1.5] for n in range(20_000)]})),
        "log, 100 MB": ("a.log", "".join(f"line {n} of a log, déjà vu\n" for n in range(3_500_000)).encode()),
    }
    rows = []
    for title, (name, content) in files.items():
        path = folder / name
        path.write_bytes(content)
        ran = subprocess.run(
            [sys.executable, "-m", "bench.chunking", str(path)], check=True, capture_output=True, text=True
        )
        seconds, cut, size, found, memory, reader = json.loads(ran.stdout.splitlines()[-1])
        memory_cells = f"{memory:.0f}", f"{reader:.0f}" if reader else "–"
        rows.append((title, f"{seconds:.2f}", f"{size / 1e6:.2f}", f"{cut:.2f}", str(found), *memory_cells))
    memory_of = ("memory growth MB", "memory of the reader process MB")
    columns = ("file", "extraction s", "text MB", "splitting s", "chunks", *memory_of)
    report("documents", "Reading files, and splitting their text by characters", columns, rows)


def one_document(path: Path) -> None:
    """Read and split one file and print its figures."""
    kind = kind_of(path)
    start = peak_memory()
    began = perf_counter()
    into = path.with_suffix(".out")
    extracted = extract(path, kind, into)
    read = perf_counter()
    found = sum(1 for _ in split(read_text(into, "utf-8"), len, CHARACTERS))
    done = perf_counter()
    reader = getrusage(RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps([read - began, done - read, extracted.size, found, peak_memory() - start, reader]))


def peak_memory() -> float:
    """Return the peak memory of this process in MB; getrusage would include its parent's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """Measure in one run and print the tables."""
    if len(sys.argv) > 1:
        one_document(Path(sys.argv[1]))
        return
    texts = corpus()
    by_characters(texts)
    by_tokens(texts)
    with tempfile.TemporaryDirectory() as folder:
        documents(Path(folder))


if __name__ == "__main__":
    main()
