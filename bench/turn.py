"""CPU of a turn, beside `langchain.agents.create_agent` with the same tools, model and saver.

Run: python -m bench.turn
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from bench.model_server import model_server
from bench.report import report
from cognition.context import BoundContext, Context
from cognition.memory.long_term import LongTermMemory
from cognition.prompts.echo import system_prompt
from cognition.services import Services
from cognition.settings import Settings
from cognition.storage.checkpointer import open_checkpointer
from graphs.echo import graph
from tools.toolset import echo_tools

TURNS, WARM_UP = 60, 10
QUESTIONS = {"no tool": "Say something.", "one tool call": "Use a tool, please."}


async def main() -> None:
    """Measure and print."""
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        keys = {"GOOGLE_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": url}
        services = Services(Settings(home=home, **keys))
        silent = SharedMemory(Settings(home=home, recall=False, **keys), services)
        memory = await services.memory()
        await memory.write("bench", "chat", "Profil d'Alignement", "I drink green tea.", 3)
        async with open_checkpointer(home) as saver:
            runs = contenders(services, silent, saver)
            rows = [await measure(case, question, runs) for case, question in QUESTIONS.items()]
        await services.aclose()
    report("turn", "CPU of a turn, milliseconds (median), and its ratio to create_agent", COLUMNS, rows)


COLUMNS = ("turn", "create_agent", "echo, no recall", "ratio", "echo, recall", "ratio with recall")
Run = Callable[[str, str], Any]


class SharedMemory(Services):
    """Services with settings of their own over the memory of others."""

    def __init__(self, settings: Settings, owner: Services) -> None:
        super().__init__(settings)
        self._owner = owner

    async def memory(self) -> LongTermMemory:
        """The other's memory: a folder is opened once."""
        return await self._owner.memory()


def contenders(services: Services, silent: Services, saver: Any) -> dict[str, Run]:
    """The three that are compared; each runs one turn on a thread."""
    tools = echo_tools(("MODEL_FLASH", "MODEL_PRO"), "on")
    prompt = system_prompt("MODEL_LITE", may_climb=True, remembers=True)
    model = services.models.chat("MODEL_LITE")
    agent = create_agent(model, list(tools), system_prompt=prompt, checkpointer=saver, context_schema=Context)
    echo = graph.copy(update={"checkpointer": saver})
    recalling = BoundContext(user_id="bench", bound=services)
    plain = BoundContext(user_id="bench", bound=silent)

    def run(target: Any, context: Context) -> Run:
        def turn(thread: str, question: str) -> Any:
            config = {"configurable": {"thread_id": thread}}
            return target.ainvoke({"messages": [HumanMessage(question)]}, config, context=context)

        return turn

    return {
        "create_agent": run(agent, recalling),
        "plain": run(echo, plain),
        "recall": run(echo, recalling),
    }


async def measure(case: str, question: str, runs: dict[str, Run]) -> tuple[object, ...]:
    """One row: the contenders take turns on fresh threads, so that a busy machine troubles them alike."""
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(WARM_UP + TURNS):
        for name, run in runs.items():
            started = process_time()
            await run(f"{case}-{name}-{turn}", question)
            if turn >= WARM_UP:
                spent[name].append((process_time() - started) * 1000)
    base, plain, recall = (median(spent[name]) for name in ("create_agent", "plain", "recall"))
    return case, f"{base:.1f}", f"{plain:.1f}", f"{plain / base:.2f}", f"{recall:.1f}", f"{recall / base:.2f}"


if __name__ == "__main__":
    asyncio.run(main())
