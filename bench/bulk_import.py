"""Bulk import of memories, compared with the embedding model alone on the same texts.

Run: python -m bench.bulk_import
"""

import asyncio
import tempfile
from pathlib import Path
from time import perf_counter

from bench.recall import as_memories, questions
from bench.report import report
from cognition.embedding import load_embedder
from cognition.memory.long_term.store import LongTermMemory
from cognition.models.client import Models
from cognition.settings import Settings
from cognition.vectors import open_engine

SENTENCES = 256


async def main() -> None:
    """Measure the model and the import alternately, and print the table."""
    passages, _, _ = questions()
    facts = [s.strip() for passage in passages for s in passage.split(". ") if 40 < len(s) < 300][:SENTENCES]
    memories = as_memories(facts, [3] * len(facts))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        settings = Settings(home=home)
        embedder = load_embedder(settings.memory_embedding, home)
        memory = await LongTermMemory.open(open_engine(home), embedder, settings, Models(settings))
        await embedder.aembed(facts[:32], "passage")
        alone = imported = 0.0
        for start in range(0, len(facts), 64):
            began = perf_counter()
            await embedder.aembed(facts[start : start + 64], "passage")
            between = perf_counter()
            await memory.import_many(memories[start : start + 64])
            alone += between - began
            imported += perf_counter() - between
        await memory.aclose()
    rows = [
        ("embedding model alone", f"{len(facts) / alone:.1f}", "1.00"),
        ("bulk import", f"{len(facts) / imported:.1f}", f"{alone / imported:.2f}"),
    ]
    report("bulk_import", f"Importing {len(facts)} memories", ("path", "facts/s", "ratio"), rows)


if __name__ == "__main__":
    asyncio.run(main())
