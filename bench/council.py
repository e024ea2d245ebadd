"""One council compared with its critical path, twenty in parallel, and the CPU cost of a model call.

Run: python -m bench.council
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from bench.model_server import OPINION, model_server
from bench.report import report
from cognition.context import BoundContext
from cognition.models.outcome import Answer
from cognition.services import Services
from cognition.settings import Settings
from graphs.council import graph

LATENCY = 1.0
PARTICIPANTS = "architect, devils-advocate, researcher, finance-analyst, security-reviewer"
ROUNDS, AT_ONCE, REPEATS = 3, 20, 3
CALLS = 1 + 5 * ROUNDS + 1
CRITICAL = (1 + ROUNDS + 1) * LATENCY
CHAT = [HumanMessage("We are eleven people on a monolith that takes an hour to deploy. " * 20)]
REQUEST = {"question": "Should we split the monolith?", "participants": PARTICIPANTS, "messages": CHAT}
SYSTEM = SystemMessage("An expert's instructions. " * 160)
FIRST, LATER = HumanMessage("A question and its context. " * 40), HumanMessage(OPINION * 4)
COLUMNS = ("councils and their bound", "measured", "bound", "ratio", "slowest expert call")
Prompt = list[AnyMessage]


async def main() -> None:
    """Measure and print the tables."""
    with model_server(LATENCY) as url, tempfile.TemporaryDirectory() as folder:
        keys = {"GOOGLE_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": url}
        services = Services(Settings(home=Path(folder), **keys))
        await run_council(services)
        alone = [await timed(lambda: run_council(services)) for _ in range(REPEATS)]
        prompts = await prompts_of(services)
        bare = await per_call(prompts, services.models.chat("MODEL_PRO").ainvoke)
        wrapped = await per_call(prompts, lambda prompt: services.models.call("MODEL_PRO", prompt))
        wall, cpu, slowest = min([await at_once(services) for _ in range(REPEATS)])
        await services.aclose()
    one = median(wall for wall, _ in alone)
    calls = AT_ONCE * CALLS
    bound = max(one, calls * bare)
    rows = [
        ("one; bound: its critical path", f"{one:.2f} s", f"{CRITICAL:.2f} s", f"{one / CRITICAL:.2f}", "–"),
        (
            f"{AT_ONCE} at once; bound: the larger of one council and the CPU of {calls} bare calls",
            *(f"{wall:.2f} s", f"{bound:.2f} s", f"{wall / bound:.2f}", f"{slowest:.2f} s"),
        ),
    ]
    report("council", "Councils of 5 experts and 3 rounds, each model call 1 s", COLUMNS, rows)
    spent = {
        "the bare client": bare,
        "`Models.call`, with history, limits, retries and checks": wrapped,
        f"{AT_ONCE} councils at once, with prompts, branches and states": cpu / calls,
    }
    parts = [(what, f"{cost * 1e3:.2f}", f"{cost / bare:.2f}") for what, cost in spent.items()]
    report("council_cpu", "CPU of a model call, milliseconds", ("call through", "CPU", "ratio"), parts)


async def run_council(services: Services) -> dict[str, Any]:
    """Run one council."""
    result: dict[str, Any] = await graph.ainvoke(REQUEST, context=BoundContext(bound=services))
    assert result["report"].startswith("**Council: 5 of 5 participants answered; 3 of 3 rounds were held.**")
    return result


async def timed(run: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """Return wall time and CPU time in seconds."""
    started, cpu = perf_counter(), process_time()
    await run()
    return perf_counter() - started, process_time() - cpu


async def prompts_of(services: Services) -> list[Prompt]:
    """Return the requests of a council: expert histories of one, two and three turns, and two short ones."""
    answer = await services.models.call("MODEL_PRO", [SYSTEM, FIRST])
    assert isinstance(answer, Answer)
    turn = [answer.message, LATER]
    return [[SYSTEM, FIRST, *turn * turns] for turns in (0, 1, 2) for _ in range(5)] + [[SYSTEM, LATER]] * 2


async def per_call(prompts: list[Prompt], call: Callable[[Prompt], Awaitable[Any]]) -> float:
    """Return the CPU seconds of one call, with as many in flight as during parallel councils."""

    async def batch() -> None:
        await asyncio.gather(*(call(prompt) for prompt in prompts for _ in range(6)))

    await batch()
    return min([(await timed(batch))[1] for _ in range(REPEATS)]) / (6 * len(prompts))


async def at_once(services: Services) -> tuple[float, float, float]:
    """Return wall time, CPU time and the slowest expert call, in seconds."""
    started, cpu = perf_counter(), process_time()
    result = await asyncio.gather(*(run_council(services) for _ in range(AT_ONCE)))
    wall, spent = perf_counter() - started, process_time() - cpu
    contributions = [c for h in result for r in h["deliberation"]["rounds"] for c in r["contributions"]]
    return wall, spent, max(contribution["seconds"] for contribution in contributions)


if __name__ == "__main__":
    asyncio.run(main())
