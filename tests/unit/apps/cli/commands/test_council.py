import json

import pytest
from rich.console import Console

from apps.cli.commands.council import Rounds
from cognition.rehearsal import RehearsalServer, Reply
from tests.conftest import PRO
from tests.unit.apps.cli.conftest import Run

SEATED = "architect, devils-advocate,operations-engineer"


def test_a_rehearsed_council_shows_its_rounds_and_prints_its_report(run: Run) -> None:
    shown = run("council", "Should we split the monolith?", "--participants", SEATED, "--rounds", "2")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("**Council: 3 of 3 participants answered; 2 of 2 rounds were held.**")
    assert "[rehearsal]" in shown.stdout
    assert "Only with conditions (65 %) → Yes, step by step (75 %)" in shown.stdout
    assert "Minority: Participant 2 (Devil's advocate)" in shown.stdout
    contributions = shown.stdout.partition("\n# Last contributions\n\n")[2]
    assert contributions.startswith(
        "**Participant 1 (Software architect), round 2:**\n> [rehearsal]\n>\n> Step 2 of my method"
    )
    assert contributions.count("**Participant ") == 3
    assert "The models are rehearsed: scripted rules answer." in shown.stderr
    assert "· round 2 of 2" in shown.stderr
    assert "· Participant 2: Not yet (75 %)" in shown.stderr


def test_the_council_speaks_the_language_of_the_question(run: Run) -> None:
    shown = run("council", "Faut-il découper le monolithe ?", "--participants", SEATED, "--rounds", "1")
    assert "; 1 of 1 round was held.**" in shown.stdout
    assert "## Divergences" in shown.stdout
    assert "Participant 2: Pas encore" in shown.stdout


def test_a_council_as_json(run: Run) -> None:
    deliberation = json.loads(
        run("council", "Split?", "--participants", SEATED, "--rounds", "2", "--json").stdout
    )
    assert [seat["skill_id"] for seat in deliberation["roster"]] == SEATED.replace(" ", "").split(",")
    assert [len(completed["contributions"]) for completed in deliberation["rounds"]] == [3, 3]
    assert deliberation["movements"][-1]["moved"] is True
    assert deliberation["minority"][0]["alias"] == "Participant 2"
    assert deliberation["usage"]["calls"] == 7
    assert deliberation["rehearsal"] is True


def test_a_council_of_one_is_rejected_with_the_available_experts(run: Run) -> None:
    shown = run("council", "Split?", "--participants", "architect")
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert "at least 2 different participants" in shown.stderr
    assert "Available skills: architect, " in shown.stderr
    assert shown.stderr.count("\n") == 1
    unknown = run("council", "Split?", "--participants", "architect,nobody")
    assert "'nobody'" in unknown.stderr
    assert "forge_skill" not in unknown.stderr
    assert unknown.stderr.count("\n") == 1


@pytest.mark.parametrize("rounds", ["0", "-1", "9"])
def test_an_invalid_number_of_rounds_is_rejected_before_any_call(run: Run, rounds: str) -> None:
    shown = run("council", "Split?", "--participants", SEATED, "--rounds", rounds)
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert f"'--rounds': {rounds} is not in the range from 1 to 5" in shown.stderr
    assert "round 1" not in shown.stderr


def test_a_council_without_answers_exits_with_1(
    rehearsal: RehearsalServer, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "test")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", rehearsal.url)
    rehearsal.script(PRO, [Reply(failure="blocked")])
    shown = run("council", "Split?", "--participants", SEATED)
    assert shown.exit_code == 1
    assert "0 of 3 participants answered" in shown.stdout
    assert "Participant 1 is absent: " in shown.stderr
    assert "Last contributions" not in shown.stdout
    deliberation = json.loads(run("council", "Split?", "--participants", SEATED, "--json").stdout)
    assert deliberation["outcome"] == "failed"
    assert deliberation["rehearsal"] is False
    assert len(deliberation["rounds"][0]["absences"]) == 3


def test_the_experts_get_a_summary_of_the_chat(run: Run) -> None:
    assert run("ask", "we are eleven people", "--chat", "work").exit_code == 0
    deliberation = json.loads(
        run("council", "Split?", "--participants", SEATED, "--chat", "work", "--json").stdout
    )
    assert deliberation["context"] == "distilled"
    assert deliberation["usage"]["calls"] == 11


def test_the_live_table_shows_stances_absences_and_tokens() -> None:
    rounds = Rounds()
    roster = [{"alias": "Participant 1", "role": "Architect"}, {"alias": "Participant 2", "role": "Skeptic"}]
    spent = {"input": 1200, "output": 30}
    speaks, spoke = {"event": "speaks", "round": 1}, {"event": "spoke", "round": 1, "tokens": spent}
    for event in (
        {"event": "convened", "roster": roster, "rounds": 2},
        {"event": "round", "round": 1, "rounds": 2},
        *({**speaks, **seat} for seat in roster),
        {**spoke, **roster[0], "stance": "Split\x1b[2J", "confidence": 70},
        {"event": "absent", "round": 1, **roster[1], "reason": "over quota"},
    ):
        rounds.update(event)
    console = Console(width=120, record=True)
    with console.capture() as shown:
        console.print(rounds.table())
    assert "round 1 of 2" in shown.get()
    assert "Split 70 %" in shown.get()
    assert "absent: over quota" in shown.get()
    assert "1,200 tokens in, 30 out" in shown.get()
