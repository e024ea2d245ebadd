"""Kill a process with a running sub-agent after some writes of its thread, and each process that resumes it.

Run: python -m tests.graphs.killing_agents FOLDER URL
The rehearsal server at URL plays the models. Prints JSON: for kills after every write, every second and every
third write, the writes that preceded a kill, the last process's report, the number of tool runs, and the
thread's messages.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from cognition.delegation.assignment import Assignment
from cognition.models.client import Models
from cognition.services import Services
from cognition.settings import Settings
from cognition.skills.vault import Vault
from cognition.storage.sqlite.checkpointer import ThreadSaver
from tests.graphs.agents import agents
from tools.skills import list_skills


async def work(home: Path, url: str, kill_at: int) -> dict[str, Any]:
    """Delegate the task; the process is killed after the given number of writes."""
    tap(home, kill_at)
    services = Services(Settings(home=home, GOOGLE_API_KEY="test", GOOGLE_GEMINI_BASE_URL=url))
    report = await agents(services).delegate(Assignment(task=f"Count in {home.name}", request_id="call-1"))
    texts = [message.text for message in await agents(services).messages(report.sub_sid)]
    (thread,) = await agents(services).open_threads()
    await services.aclose()
    index = {"status": thread.status, "steps": thread.steps, "answer": thread.answer}
    return {"outcome": report.outcome, "said": texts, "index": index}


def tap(home: Path, kill_at: int) -> None:
    """Record each run of the tool in a file, and kill the process after a number of thread writes."""
    look, seen = list_skills.coroutine, 0  # type: ignore[attr-defined]

    async def recorded(*args: Any, **kwargs: Any) -> Any:
        with (home / "runs").open("a") as file:
            file.write("x")
        return await look(*args, **kwargs)

    def killing(write: Any) -> Any:
        async def write_and_count(*args: Any, **kwargs: Any) -> Any:
            nonlocal seen
            result = await write(*args, **kwargs)
            seen += 1
            if seen == kill_at:
                with (home / "killed").open("a") as file:
                    file.write(f"{write.__name__}\n")
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return write_and_count

    list_skills.coroutine = recorded  # type: ignore[attr-defined]
    for name in ("aput", "aput_writes"):
        setattr(ThreadSaver, name, killing(getattr(ThreadSaver, name)))


def forked(home: Path, url: str, kill_at: int) -> dict[str, Any] | None:
    """Return the report of a child process; None if it was killed."""
    home.mkdir(exist_ok=True)
    if not (process := os.fork()):
        (home / "report").write_text(json.dumps(asyncio.run(work(home, url, kill_at))))
        os._exit(0)
    os.waitpid(process, 0)
    path = home / "report"
    return json.loads(path.read_text()) if path.exists() else None


def main(folder: Path, url: str) -> None:
    # Load slow imports and YAML once, before the process forks.
    Models(Settings(home=folder, GOOGLE_API_KEY="test")).chat("MODEL_LITE")
    Vault(folder, "ada").skills()
    chains = []
    for writes in range(1, 4):
        home = folder / f"folder{writes}"
        while not (report := forked(home, url, kill_at=writes)):
            continue
        killed = (home / "killed").read_text().split()
        runs = len((home / "runs").read_text())
        chains.append({"name": home.name, "killed": killed, "runs": runs, **report})
    sys.stdout.write(json.dumps(chains))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
