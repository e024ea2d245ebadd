"""A sub-agent whose process is killed resumes at its last step and repeats nothing."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from cognition.rehearsal import RehearsalServer, Reply, Request
from tests.conftest import LITE
from tests.graphs.agents import LOOK, steps_of, task_of

ROOT = Path(__file__).parents[2]
CALLS = [1, 2, 1, 3]
"""Number of tool calls in each step before the answer, which is the fifth step."""


async def test_a_killed_agent_resumes_at_its_last_step_and_repeats_nothing(
    rehearsal: RehearsalServer, tmp_path: Path
) -> None:
    def five_steps(request: Request) -> Reply:
        done = steps_of(request)
        return Reply(text=f"Step {done}.", calls=[LOOK] * CALLS[done]) if done < 4 else Reply(text="Seven.")

    rehearsal.script(LITE, five_steps)
    command = [sys.executable, "-m", "tests.graphs.killing_agents", str(tmp_path), rehearsal.url]
    ran = await asyncio.to_thread(
        subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    chains = json.loads(ran.stdout or "[]")
    assert [len(chain["killed"]) > 6 for chain in chains] == [True] * 3, ran.stderr
    assert Counter(chains[0]["killed"]) == {"aput": 13, "aput_writes": 12}, (
        "killed after each write of the thread"
    )
    asked = Counter(task_of(request).removeprefix("Count in ") for request in rehearsal.requests)
    for chain in chains:
        assert chain["outcome"] == {"status": "success", "text": "Seven.", "level": "MODEL_LITE", "calls": 7}
        assert chain["index"] == {"status": "open", "steps": 5, "answer": "Seven."}
        spoken = [text for text in chain["said"] if text.startswith(("Count", "Step", "Seven"))]
        assert spoken == [f"Count in {chain['name']}", *(f"Step {n}." for n in range(4)), "Seven."]
        assert len(chain["said"]) == 1 + 5 + 7, "each call has exactly one result"
        assert (asked[chain["name"]], chain["runs"]) == (5, 7), "nothing was repeated"
    assert rehearsal.refusals == []
