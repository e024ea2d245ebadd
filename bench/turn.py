"""CPU time of a turn, compared with `langchain.agents.create_agent` with the same tools, model and saver.

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
from cognition.memory.long_term.store import LongTermMemory
from cognition.memory.session.store import SessionMemory
from cognition.prompts.echo import system_prompt
from cognition.services import Services
from cognition.settings import Settings
from cognition.storage.sqlite.checkpointer import open_checkpointer
from graphs.echo import TOOLSET, graph

TURNS, WARM_UP = 60, 10
QUESTIONS = {"no tool": "Say something.", "one tool call": "Use a tool, please."}


async def main() -> None:
    """Measure and print the tables."""
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        keys = {"GOOGLE_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": url}
        services = Services(Settings(home=home, **keys))
        memory = await services.memory()
        await memory.write("bench", "chat", "Profil d'Alignement", "I drink green tea.", 3)
        async with open_checkpointer(home) as saver:
            runs = contenders(services, saver)
            rows = [await measure(case, question, runs) for case, question in QUESTIONS.items()]
        await services.aclose()
    report("turn", "CPU of a turn, milliseconds (median), and its ratio to create_agent", COLUMNS, rows)


COLUMNS = (
    "turn",
    "create_agent",
    "echo alone",
    "ratio",
    "echo, recall",
    "ratio with recall",
    "echo, indexing",
    "ratio with indexing",
)
Run = Callable[[str, str], Any]


class SharedStores(Services):
    """Services with their own settings that share the stores of other services."""

    def __init__(self, owner: Services, **own: Any) -> None:
        super().__init__(owner.settings.model_copy(update=own))
        self._owner = owner

    async def memory(self) -> LongTermMemory:
        """Return the other services' memory, because a home folder can be opened only once."""
        return await self._owner.memory()

    async def session(self) -> SessionMemory:
        """Return the other services' session memory."""
        return await self._owner.session()


def contenders(services: Services, saver: Any) -> dict[str, Run]:
    """Return the four contenders; each runs one turn on a thread and its background jobs."""
    tools = TOOLSET(("MODEL_FLASH", "MODEL_PRO"), "on")
    prompt = system_prompt("MODEL_LITE", may_climb=True, remembers=True)
    model = services.models.chat("MODEL_LITE")
    agent = create_agent(model, list(tools), system_prompt=prompt, checkpointer=saver, context_schema=Context)
    echo = graph.copy(update={"checkpointer": saver})

    def run(target: Any, *, recall: bool, indexing: bool) -> Run:
        bound = SharedStores(services, recall=recall, index_conversation=indexing)
        context = BoundContext(user_id="bench", bound=bound)

        async def turn(thread: str, question: str) -> None:
            config = {"configurable": {"thread_id": thread}}
            await target.ainvoke({"messages": [HumanMessage(question)]}, config, context=context)
            await bound.jobs.finish()

        return turn

    return {
        "create_agent": run(agent, recall=False, indexing=False),
        "alone": run(echo, recall=False, indexing=False),
        "recall": run(echo, recall=True, indexing=False),
        "indexing": run(echo, recall=False, indexing=True),
    }


async def measure(case: str, question: str, runs: dict[str, Run]) -> tuple[object, ...]:
    """Return one row. Contenders alternate on new threads, so that a busy machine slows them equally."""
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(WARM_UP + TURNS):
        for name, run in runs.items():
            started = process_time()
            await run(f"{case}-{name}-{turn}", question)
            if turn >= WARM_UP:
                spent[name].append((process_time() - started) * 1000)
    base, *others = (median(times) for times in spent.values())
    compared = [cell for time in others for cell in (f"{time:.1f}", f"{time / base:.2f}")]
    return case, f"{base:.1f}", *compared


if __name__ == "__main__":
    asyncio.run(main())
