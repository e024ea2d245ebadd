"""Token cost of a file's summary, by file size.

Run: python -m bench.summaries   (about three minutes for a file of 100 MB)
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from bench.ingestion import write
from bench.report import report
from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.rehearsal.replies import count_tokens
from cognition.services import Services
from cognition.settings import Settings
from graphs.ingestion import graph

MODEL = "gemini-2.5-flash-lite"
MEGABYTES = (1, 10, 100)


async def ingest(path: Path, services: Services) -> dict[str, Any]:
    """Return the graph's report on a file."""
    context = BoundContext(user_id="bench", bound=services)
    config: Any = {"configurable": {"thread_id": path.stem}}
    result = await graph.ainvoke({"files": [{"path": str(path)}]}, config, context=context)
    (entry,) = result["report"]
    assert entry["status"] == "VECTORIZED_SUM_UP", entry
    return dict(entry)


async def main() -> None:
    """Measure and print the tables."""
    rows: list[tuple[object, ...]] = []
    costs: list[int] = []
    script = {MODEL: [Reply(text="A guide to rights and duties.")]}
    with tempfile.TemporaryDirectory() as name, RehearsalServer(script) as rehearsal:
        folder = Path(name)
        services = Services(
            Settings(
                home=folder / "home",
                file_roots=(folder,),
                model_distillation=f"google_genai:{MODEL}",
                GOOGLE_API_KEY="bench",
                GOOGLE_GEMINI_BASE_URL=rehearsal.url,
            )
        )
        for megabytes in MEGABYTES:
            path, before = folder / f"{megabytes}.txt", len(rehearsal.requests)
            write(path, megabytes)
            entry = await ingest(path, services)
            requests_made: list[Request] = rehearsal.requests[before:]
            costs.append(sum(count_tokens(request.body) for request in requests_made))
            rows.append(
                (
                    f"{megabytes} MB",
                    entry["chunks"],
                    len(requests_made),
                    costs[-1],
                    f"{costs[-1] / costs[0]:.2f}",
                )
            )
        await services.aclose()
    columns = ("file size", "chunks", "model calls", "prompt tokens", "ratio")
    report("summaries", "Summaries of large files", columns, rows)


if __name__ == "__main__":
    asyncio.run(main())
