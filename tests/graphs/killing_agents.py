"""Kills a process with a running sub-agent after a number of thread writes, and the process that resumes it.

Run: python -m tests.graphs.killing_agents FOLDER URL
The rehearsal at URL plays the models. Prints as JSON, for kills after each write and after each few, the
writes that they came after, what the last process reported, how often tools were run, and what was said.
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
    """Have the task done; the process is killed after so many writes."""
    tap(home, kill_at)
    services = Services(Settings(home=home, GOOGLE_API_KEY="test", GOOGLE_GEMINI_BASE_URL=url))
    report = await agents(services).delegate(Assignment(task=f"Count in {home.name}", request_id="call-1"))
    said = [message.text for message in await agents(services).messages(report.sub_sid)]
    (thread,) = await agents(services).open_threads()
    await services.aclose()
    index = {"status": thread.status, "steps": thread.steps, "answer": thread.answer}
    return {"outcome": report.outcome, "said": said, "index": index}


def tap(home: Path, kill_at: int) -> None:
    """Note each run of the tool in a file, and die after a write of the thread."""
    look, seen = list_skills.coroutine, 0  # type: ignore[attr-defined]

    async def noted(*args: Any, **kwargs: Any) -> Any:
        with (home / "runs").open("a") as file:
            file.write("x")
        return await look(*args, **kwargs)

    def killing(write: Any) -> Any:
        async def then(*args: Any, **kwargs: Any) -> Any:
            nonlocal seen
            done = await write(*args, **kwargs)
            seen += 1
            if seen == kill_at:
                with (home / "killed").open("a") as file:
                    file.write(f"{write.__name__}\n")
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return then

    list_skills.coroutine = noted  # type: ignore[attr-defined]
    for name in ("aput", "aput_writes"):
        setattr(ThreadSaver, name, killing(getattr(ThreadSaver, name)))


def forked(home: Path, url: str, kill_at: int) -> dict[str, Any] | None:
    """Return the report of a child process; None if it was killed."""
    home.mkdir(exist_ok=True)
    if not (process := os.fork()):
        (home / "told").write_text(json.dumps(asyncio.run(work(home, url, kill_at))))
        os._exit(0)
    os.waitpid(process, 0)
    told = home / "told"
    return json.loads(told.read_text()) if told.exists() else None


def main(folder: Path, url: str) -> None:
    # What takes a second of imports and of YAML, before the processes part.
    Models(Settings(home=folder, GOOGLE_API_KEY="test")).chat("MODEL_LITE")
    Vault(folder, "ada").skills()
    chains = []
    for writes in range(1, 4):
        home = folder / f"folder{writes}"
        while not (told := forked(home, url, kill_at=writes)):
            continue
        killed = (home / "killed").read_text().split()
        chains.append({"name": home.name, "killed": killed, "runs": len((home / "runs").read_text()), **told})
    sys.stdout.write(json.dumps(chains))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
