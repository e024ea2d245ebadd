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


def said(rehearsal: RehearsalServer) -> list[str]:
    """The conversation of the last request, without the blocks under its newest message."""
    return [text.partition("\n<")[0] for text in rehearsal.requests[-1].texts]


def test_an_answer_as_json_has_its_account(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="Bonjour, été", chunks=3)])
    told = json.loads(run("ask", "bonjour", "--json").stdout)
    assert told["answer"] == "Bonjour, été"
    assert told["level"] == "MODEL_LITE"
    assert told["calls"] == {"MODEL_LITE": 1}
    assert told["rehearsal"] is False
    again = json.loads(run("ask", "encore", "--json", "--chat", told["chat_id"]).stdout)
    assert again["chat_id"] == told["chat_id"]
    assert said(scripted) == ["bonjour", "Bonjour, été", "encore"]


def test_standard_input_is_the_question(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="ok")])
    shown = run("ask", "-", stdin="première\nseconde".encode())
    assert shown.stdout == "ok\n"
    assert said(scripted) == ["première\nseconde"]


def test_a_turn_without_answer_exits_with_1(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(failure="blocked")])
    shown = run("ask", "something")
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert shown.stderr.strip()
    assert json.loads(run("ask", "something", "--json").stdout)["error"] == "blocked"


@pytest.mark.parametrize("question", ["", "  \n", "-"])
def test_no_question_is_refused(run: Run, question: str) -> None:
    shown = run("ask", question)
    assert shown.exit_code == 1
    assert "nothing to ask" in shown.stderr


def test_control_characters_of_a_model_stay_off_the_terminal(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="a\x1b]0;title\x07b\x1b[31mc")])
    assert run("ask", "hi").stdout == "a]0;titlebc\n"


def test_a_bad_setting_is_named(program: Program) -> None:
    ran = program("ask", "hi", COGNITION_MODEL_LITE="gemini")
    assert ran.returncode == 1
    assert "COGNITION_MODEL_LITE" in ran.stderr
    assert "provider:model" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_setting_that_is_no_json_is_told_in_a_sentence(program: Program) -> None:
    ran = program("ask", "hi", COGNITION_IMPORTANCE_WEIGHTS="heavy")
    assert ran.returncode == 1
    assert "importance_weights" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("chat", ["  ", "\t", b"\xff".decode("utf-8", "surrogateescape"), "a\0b"])
def test_p52_a_chat_without_a_name_that_is_text_is_refused(run: Run, chat: str) -> None:
    shown = run("ask", "hi", "--chat", chat)
    assert shown.exit_code == 1
    assert "name it with letters" in shown.stderr


def test_p47_two_users_may_call_a_chat_the_same(scripted: RehearsalServer, run: Run) -> None:
    scripted.script(LITE, [Reply(text="Noted.")])
    for user in ("ada", "bob"):
        told = json.loads(run("ask", f"I am {user}", "--chat", "work", "--user", user, "--json").stdout)
        assert told["chat_name"] == "work"
        assert said(scripted) == [f"I am {user}"]


def test_a_fault_of_the_program_is_seen_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Settings:
        msg = "max() arg is an empty sequence"
        raise ValueError(msg)

    monkeypatch.setattr("apps.cli.commands.ask.process_settings", fail)
    assert isinstance(run("ask", "hi").exception, ValueError)


def test_a_folder_that_another_holds_is_refused_with_its_pid(program: Program, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "home", "http://127.0.0.1:9"):
        ran = program("ask", "hi")
    assert ran.returncode == 1
    assert "in use by process" in ran.stderr
    assert (
        "which serves http://127.0.0.1:9. One process at a time holds a folder: use that server" in ran.stderr
    )
    assert "Traceback" not in ran.stderr


def test_a_folder_that_a_chat_holds_is_refused_with_the_way_out(run: Run, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "home"):
        told = run("ask", "hi").stderr
    assert told.endswith("end it, as /quit ends a chat, or set COGNITION_HOME to another one.\n")


def test_bytes_that_are_no_text_are_no_crash(program: Program) -> None:
    ran = program("ask", b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert ran.returncode == 0, ran.stderr


def test_help_is_quick_for_it_loads_nothing(bare_environment: dict[str, str]) -> None:
    code = (
        "import sys, cognition.cli.main; "
        "heavy = {'langgraph', 'langchain_core', 'numpy', 'httpx', 'prompt_toolkit'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=bare_environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_a_policy_that_is_none_is_told_without_anybodys_prefix(run: Run) -> None:
    shown = run("ask", "hi", "--policy", "FOO")
    assert shown.exit_code == 2
    assert "'FOO' is not one of" in shown.stderr
    assert "Value error" not in shown.stderr


def test_a_question_of_a_sub_agent_names_the_chat_to_answer_it_in(run: Run) -> None:
    shown = run("ask", "delegate: plan a trip, and ask me where to go")
    assert "Go on with it: cognition chat --chat " in shown.stderr
    chat = shown.stderr.strip().rpartition(" ")[2]
    assert "as you answered: To Brest" in run("ask", "To Brest", "--chat", chat).stdout
