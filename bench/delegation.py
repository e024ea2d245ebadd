"""CPU time of a sub-agent's step, compared with `create_agent` of LangChain with the same tools and saver.

Run: python -m bench.delegation
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from bench.model_server import model_server
from bench.report import report
from cognition.context import BoundContext, Context
from cognition.delegation.assignment import Assignment
from cognition.delegation.sub_agents import SubAgents
from cognition.prompts.delegation import agent_prompt
from cognition.services import Services
from cognition.settings import Settings
from graphs.delegation import graph
from tools.toolset import sub_agent_toolset

RUNS, WARM_UP, STEPS = 30, 5, 10
COLUMNS = ("measurement", "create_agent", "delegation", "ratio", "delegated on a thread", "ratio on a thread")
Run = Callable[[str, int], Awaitable[object]]


async def main() -> None:
    """Measure and print the tables."""
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        keys = {"GOOGLE_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": url}
        services = Services(Settings(home=Path(folder), **keys))
        spent = await measure(await contenders(services))
        await services.aclose()
    title = "CPU of a sub-agent, milliseconds (median), and its ratio to create_agent"
    report("delegation", title, COLUMNS, [*rows(spent)])


async def contenders(services: Services) -> dict[str, Run]:
    """Return the three contenders; each runs one task with a number of sequential tool calls.

    Our threads store each step before the next begins; the two others store in the background.
    """
    context = BoundContext(user_id="bench", bound=services, chat_id="chat")
    saver = await services.checkpointer()
    prompt = agent_prompt("MODEL_LITE", may_climb=True, calls=25, role="", skill=None, cut="")
    tools = list(sub_agent_toolset()(("MODEL_FLASH", "MODEL_PRO"), "on"))
    model = services.models.chat("MODEL_LITE")
    agent = create_agent(model, tools, system_prompt=prompt, checkpointer=saver, context_schema=Context)
    delegation = graph.copy(update={"checkpointer": saver})

    async def plain(thread: str, steps: int) -> object:
        payload = {"messages": [HumanMessage(task(steps))]}
        return await agent.ainvoke(payload, config(thread), context=context)  # type: ignore[arg-type]

    async def alone(thread: str, steps: int) -> object:
        return await delegation.ainvoke({"task": task(steps)}, config(thread), context=context)

    async def on_a_thread(thread: str, steps: int) -> object:
        return await SubAgents(graph, context).delegate(Assignment(task=task(steps)))

    return {"create_agent": plain, "delegation": alone, "thread": on_a_thread}


def task(steps: int) -> str:
    """Return a script for the model server with this many tool calls."""
    return f"Take {steps} steps."


def config(thread: str) -> Any:
    """Return the config of a new thread."""
    return {"configurable": {"thread_id": thread}}


async def measure(runs: dict[str, Run]) -> dict[tuple[str, int], float]:
    """Return the milliseconds of a task without tools and of one with many, measured alternately."""
    spent: dict[tuple[str, int], list[float]] = {}
    for number in range(WARM_UP + RUNS):
        for steps in (0, STEPS):
            for name, run in runs.items():
                started = process_time()
                await run(f"{name}-{steps}-{number}", steps)
                if number >= WARM_UP:
                    spent.setdefault((name, steps), []).append((process_time() - started) * 1000)
    return {key: median(times) for key, times in spent.items()}


def rows(spent: dict[tuple[str, int], float]) -> list[tuple[object, ...]]:
    """Return the time of a task without tools, and the time each step adds."""
    names = ("create_agent", "delegation", "thread")
    whole = [spent[name, 0] for name in names]
    step = [(spent[name, STEPS] - spent[name, 0]) / STEPS for name in names]
    return [row("a task without tools", *whole), row("a step: one call and its tool", *step)]


def row(what: str, base: float, alone: float, thread: float) -> tuple[object, ...]:
    """Return times with their ratios."""
    return what, f"{base:.1f}", f"{alone:.1f}", f"{alone / base:.2f}", f"{thread:.1f}", f"{thread / base:.2f}"


if __name__ == "__main__":
    asyncio.run(main())
