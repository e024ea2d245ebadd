"""Benchmark reports: a table on the terminal, and the figures as JSON."""

import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


def report(name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table and write `results/{name}.json`.

    Args:
        name: The name of the benchmark.
        title: The title of the table.
        columns: The column headings.
        rows: One sequence of values per row.
    """
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left")
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=110).print(table)
    figures: dict[str, Any] = {
        "title": title,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rows": [dict(zip(columns, row, strict=True)) for row in rows],
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(figures, indent=2, ensure_ascii=False, default=str)
    (RESULTS / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
