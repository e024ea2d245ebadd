import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.settings import Settings
from tests.conftest import LITE
from tests.graphs.agents import LOOK, cut_off
from tests.unit.apps.cli.conftest import Run


def agents(run: Run, *options: str) -> list[dict[str, Any]]:
    return list(json.loads(run("agents", "list", "--json", *options).stdout)["agents"])


@pytest.fixture
def asking(run: Run) -> str:
    """Return the id of a sub-agent in the chat `work` that is waiting for an answer."""
    asked = run("ask", "delegate: plan a trip, and ask me where to go", "--chat", "work")
    assert "QUESTION: where to go?" in asked.stdout
    return str(agents(run)[0]["sub_sid"])


def test_agents_are_listed_and_shown(run: Run, asking: str) -> None:
    (row,) = agents(run)
    assert (row["status"], row["steps"], row["busy"]) == ("waiting", 1, False)
    shown = run("agents", "list").stdout
    assert shown.startswith(f"{asking} · agent · waiting · 1 step · ")
    assert "task: plan a trip, and ask me where to go" in shown
    assert [row["sub_sid"] for row in agents(run, "--chat", "work")] == [asking]
    assert run("ask", "hello", "--chat", "other").exit_code == 0
    assert agents(run, "--chat", "other") == []
    shown = run("agents", "show", asking).stdout
    assert "task: plan a trip, and ask me where to go" in shown
    assert "QUESTION: where to go?" in shown
    assert [m["type"] for m in json.loads(run("agents", "show", asking, "--json").stdout)["messages"]] == [
        "human",
        "ai",
    ]


def test_an_agent_is_resumed_with_an_answer(run: Run, asking: str) -> None:
    resumed = run("agents", "resume", asking, "To Brest")
    assert resumed.exit_code == 0
    assert resumed.stdout.startswith(f"{asking} · success\n")
    assert "You answered: To Brest" in resumed.stdout
    assert f"· {asking}: started (agent)" in resumed.stderr
    again = json.loads(run("agents", "resume", asking, "--json").stdout)
    assert (again["status"], again["text"]) == ("success", resumed.stdout.split("\n\n", 1)[1].strip())
    assert agents(run)[0]["steps"] == 2, "resuming a finished task must not run it again"


def test_an_agent_is_closed(run: Run, asking: str) -> None:
    assert run("agents", "close", asking).stdout == f"Deleted permanently: {asking} (agent)\n"
    assert run("agents", "list").stdout == "No open sub-agents.\n"
    for command in ("show", "resume", "close"):
        rejected = run("agents", command, asking)
        assert (rejected.exit_code, rejected.stdout) == (1, "")
        assert f"has no sub-agent '{asking}'" in rejected.stderr


def test_p47_agents_of_another_user_are_unknown(run: Run, asking: str) -> None:
    assert agents(run, "--user", "eve") == []
    for command in ("show", "resume", "close"):
        assert run("agents", command, asking, "--user", "eve").exit_code == 1
    assert run("agents", "list", "--user", " ").exit_code == 1
    assert len(agents(run)) == 1


def test_resuming_reports_that_an_earlier_task_was_finished_first(
    run: Run,
    rehearsal: RehearsalServer,
    make_settings: Callable[..., Settings],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def start() -> str:
        services = Services(make_settings())
        thread = await cut_off(services, "Is 1 < 2?")
        await services.aclose()
        return thread.sub_sid

    rehearsal.script(LITE, [Reply(calls=[LOOK]), Reply(text="1 < 2."), Reply(text="2 > 1.")])
    sub_sid = asyncio.run(start())
    monkeypatch.setenv("GOOGLE_API_KEY", "test")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", rehearsal.url)
    resumed = run("agents", "resume", sub_sid, "And turned round?", "--user", "ada")
    first = "It was interrupted during an earlier task and finished that first:\n1 < 2."
    assert resumed.stdout == f"{sub_sid} · success\n\n{first}\n\n2 > 1.\n"


def test_an_agent_resumes_under_its_policy_or_another(run: Run) -> None:
    run("ask", "delegate: plan a trip, and ask me where to go", "--policy", "MODEL_LITE")
    (sub_sid,) = [row["sub_sid"] for row in agents(run)]
    for policy, level in (((), "MODEL_LITE"), (("--policy", "AUTO_PRO"), "MODEL_PRO"), ((), "MODEL_PRO")):
        report = json.loads(
            run("agents", "resume", sub_sid, "think harder about it", *policy, "--json").stdout
        )
        assert (report["status"], report["level"]) == ("success", level)
