"""Write the benchmark results into bench/README.md.

Run: python -m bench.readme
"""

import json
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parent

HEAD = """# Benchmarks

The scripts behind every claim about speed and recall. Each measures ratios to a baseline in the same run and
writes its figures to `results/`; `python -m bench.readme` writes them into this file. Run them on an idle
machine, for example `python -m bench.turn`. The figures below are from a shared virtual machine with 2 cores.

The questions in `data/cnil_faq.json` and the pages in `data/dila_fiches.json` are from etalab-ia/piaf-ml
(MIT), their texts from the CNIL and the DILA (open licence); the other data is our own.
"""

BENCHES = {
    "recall": ("bench.recall", "recall", "recall_curve", "recall_facts"),
    "fusion": ("bench.fusion", "fusion"),
    "turns": ("bench.turn", "turn"),
    "chunking": ("bench.chunking", "chunking", "chunking_tokens", "documents"),
    "memory search": ("bench.memory_search", "memory_search"),
    "session recall": ("bench.session_recall", "session_recall", "session_recall_meaning"),
    "session search": ("bench.session_search", "session_search"),
    "ingestion": ("bench.ingestion", "ingestion"),
    "summaries": ("bench.summaries", "summaries"),
    "bulk import": ("bench.bulk_import", "bulk_import"),
    "councils": ("bench.council", "council", "council_cpu"),
    "sub-agents": ("bench.delegation", "delegation"),
    "threads": ("bench.checkpoints", "checkpoints"),
    "imports": ("bench.imports", "imports"),
    "embedding models": ("bench.calibration", "calibration", "calibration_auc"),
}


def render() -> str:
    """Return the whole document."""
    parts = [HEAD]
    for title, (module, *names) in BENCHES.items():
        parts.append(f"\n## {title[0].upper()}{title[1:]}: `python -m {module}`\n")
        for name in names:
            figures = json.loads((BENCH / "results" / f"{name}.json").read_text(encoding="utf-8"))
            parts.append(f"\n{figures['title']}\n\n{table(figures['rows'])}\n")
    return "".join(parts)


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table."""
    columns = list(rows[0])
    lines = [
        columns,
        ["---"] + ["---:"] * (len(columns) - 1),
        *([str(row[c]) for c in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    (BENCH / "README.md").write_text(render(), encoding="utf-8")
