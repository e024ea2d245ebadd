import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cognition.rehearsal import RehearsalServer, Reply
from cognition.settings import Settings
from cognition.storage.disk.folder_lock import FolderLock
from tests.conftest import LITE
from tests.unit.apps.cli.conftest import Run

Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, rehearsal: RehearsalServer, run: Run) -> RehearsalServer:
    monkeypatch.setenv("GOOGLE_API_KEY", "test")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", rehearsal.url)
    return rehearsal


def conversation(rehearsal: RehearsalServer) -> list[str]:
    """Return the conversation of the last request, without the blocks after its newest message."""
    return [text.partition("\n<")[0] for text in rehearsal.requests[-1].texts]


def test_an_answer_as_json_includes_metadata(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="Bonjour, été", chunks=3)])
    answer = json.loads(run("ask", "bonjour", "--json").stdout)
    assert answer["answer"] == "Bonjour, été"
    assert answer["level"] == "MODEL_LITE"
    assert answer["calls"] == {"MODEL_LITE": 1}
    assert answer["rehearsal"] is False
    again = json.loads(run("ask", "encore", "--json", "--chat", answer["chat_id"]).stdout)
    assert again["chat_id"] == answer["chat_id"]
    assert conversation(scripted) == ["bonjour", "Bonjour, été", "encore"]


def test_standard_input_is_the_question(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="ok")])
    shown = run("ask", "-", stdin="première\nseconde".encode())
    assert shown.stdout == "ok\n"
    assert conversation(scripted) == ["première\nseconde"]


def test_a_turn_without_an_answer_exits_with_1(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(failure="blocked")])
    shown = run("ask", "something")
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert shown.stderr.strip()
    assert json.loads(run("ask", "something", "--json").stdout)["error"] == "blocked"


@pytest.mark.parametrize("question", ["", "  \n", "-"])
def test_an_empty_question_is_rejected(run: Run, question: str) -> None:
    shown = run("ask", question)
    assert shown.exit_code == 1
    assert "question is empty" in shown.stderr


def test_control_characters_of_a_model_stay_off_the_terminal(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="a\x1b]0;title\x07b\x1b[31mc")])
    assert run("ask", "hi").stdout == "a]0;titlebc\n"


def test_a_bad_setting_is_named(program: Program) -> None:
    completed = program("ask", "hi", COGNITION_MODEL_LITE="gemini")
    assert completed.returncode == 1
    assert "COGNITION_MODEL_LITE" in completed.stderr
    assert "provider:model" in completed.stderr
    assert "Traceback" not in completed.stderr


def test_a_setting_that_is_not_json_is_reported_in_one_line(program: Program) -> None:
    completed = program("ask", "hi", COGNITION_IMPORTANCE_WEIGHTS="heavy")
    assert completed.returncode == 1
    assert "importance_weights" in completed.stderr
    assert "Traceback" not in completed.stderr


@pytest.mark.parametrize("chat", ["  ", "\t", b"\xff".decode("utf-8", "surrogateescape"), "a\0b"])
def test_p52_an_invalid_chat_name_is_rejected(run: Run, chat: str) -> None:
    shown = run("ask", "hi", "--chat", chat)
    assert shown.exit_code == 1
    assert "expected a chat id, or a name of letters" in shown.stderr


def test_p47_two_users_can_use_the_same_chat_name(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="Noted.")])
    for user in ("ada", "bob"):
        answer = json.loads(run("ask", f"I am {user}", "--chat", "work", "--user", user, "--json").stdout)
        assert answer["chat_name"] == "work"
        assert conversation(scripted) == [f"I am {user}"]


def test_a_bug_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Settings:
        msg = "max() arg is an empty sequence"
        raise ValueError(msg)

    monkeypatch.setattr("apps.cli.commands.ask.process_settings", fail)
    assert isinstance(run("ask", "hi").exception, ValueError)


def test_a_locked_home_folder_is_reported_with_the_pid(program: Program, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "home", "http://127.0.0.1:9"):
        completed = program("ask", "hi")
    assert completed.returncode == 1
    assert "in use by process" in completed.stderr
    assert "(serving http://127.0.0.1:9). Use that server, stop it, or set COGNITION_HOME" in completed.stderr
    assert "Traceback" not in completed.stderr


def test_a_home_folder_locked_by_a_chat_is_reported_with_a_remedy(run: Run, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "home"):
        stderr = run("ask", "hi").stderr
    assert stderr.endswith("Stop it (`/quit` ends a chat) or set COGNITION_HOME to another folder.\n")


def test_an_argument_that_is_not_utf8_is_accepted(program: Program) -> None:
    completed = program("ask", b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert completed.returncode == 0, completed.stderr


def test_help_loads_no_heavy_packages(bare_environment: dict[str, str]) -> None:
    code = (
        "import sys, apps.cli.main; "
        "heavy = {'langgraph', 'langchain_core', 'numpy', 'httpx', 'prompt_toolkit'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], env=bare_environment, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr


def test_an_unknown_policy_is_reported_without_a_prefix(run: Run) -> None:
    shown = run("ask", "hi", "--policy", "FOO")
    assert shown.exit_code == 2
    assert "'FOO' is not one of" in shown.stderr
    assert "Value error" not in shown.stderr


def test_a_question_of_a_sub_agent_is_shown_with_its_chat(run: Run) -> None:
    shown = run("ask", "delegate: plan a trip, and ask me where to go")
    assert "To continue: cognition chat --chat " in shown.stderr
    chat = shown.stderr.strip().rpartition(" ")[2]
    assert "You answered: To Brest" in run("ask", "To Brest", "--chat", chat).stdout
