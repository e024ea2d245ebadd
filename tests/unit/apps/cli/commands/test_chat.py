import subprocess
from collections.abc import Callable

import pytest

from apps.cli.commands.chat import as_typed
from cognition.text.blocks import block
from tests.unit.apps.cli.conftest import Run

Program = Callable[..., "subprocess.CompletedProcess[str]"]


def test_piped_lines_are_answered_one_by_one_in_an_empty_environment(program: Program) -> None:
    completed = program("chat", stdin=b"remember that I live in Lyon\nwhat do you know about me?\n")
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.count("[rehearsal]") == 2
    assert completed.stdout.rstrip().endswith("I live in Lyon")
    assert "\x1b" not in completed.stdout
    assert "GOOGLE_API_KEY" in completed.stderr
    assert "update_meta_artifact" in completed.stderr
    assert "update_meta_artifact" not in completed.stdout


def test_lines_that_are_not_utf8_are_answered(program: Program) -> None:
    completed = program(
        "chat", stdin=b"\xef\xbb\xbfhello\n\n   \n\xff\xfe\x00caf\xe9\r\nlast without line end", LC_ALL="C"
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.count("[rehearsal]") == 3


def test_empty_input_is_not_an_error(run: Run) -> None:
    assert run("chat").exit_code == 0


def test_a_chat_is_resumed_by_its_name(run: Run) -> None:
    run("chat", "--chat", "work", stdin=b"remember that I play the oboe\n")
    shown = run("ask", "hello", "--chat", "work", "--json")
    assert '"chat_name": "work"' in shown.stdout


def test_a_change_of_level_is_shown_on_standard_error(run: Run) -> None:
    shown = run("chat", stdin=b"think harder about chess\n")
    assert "from MODEL_LITE to MODEL_PRO" in shown.stderr
    assert "Continuing as gemini-3.1-pro-preview" in shown.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"/help", "/policy"),
        (b"/memory", "No memories yet."),
        (b"/new", "New chat: "),
        (b"/policy", "The policy is AUTO_PRO"),
        (b"/policy MODEL_LITE\nthink harder about it", "Policy from the next turn on: MODEL_LITE"),
    ],
)
def test_commands(run: Run, line: bytes, message: str) -> None:
    shown = run("chat", stdin=line + b"\n/quit\nhello\n")
    assert shown.exit_code == 0
    assert message in shown.stderr
    assert "MODEL_PRO\n" not in shown.stderr.replace("MODEL_FLASH, MODEL_PRO\n", "")
    assert shown.stdout.count("[rehearsal]") == line.count(b"\n"), "a line after /quit was answered"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"/anything at all", "Unknown command '/anything': /help lists the commands."),
        (b"/tmp", "Unknown command '/tmp'"),
        (b"/policy BAD", "Unknown policy 'BAD': expected one of AUTO, AUTO_PRO"),
    ],
)
def test_an_unknown_command_is_an_error(run: Run, line: bytes, message: str) -> None:
    shown = run("chat", stdin=line + b"\nhello\n")
    assert shown.exit_code == 1
    assert message in shown.stderr
    assert shown.stdout.count("[rehearsal]") == 1


def test_a_line_that_starts_with_a_path_is_not_a_command(run: Run) -> None:
    shown = run("chat", stdin=b"/nowhere/missing.pdf\nwhat is in @/nowhere/other.pdf, please?\n")
    assert shown.exit_code == 0
    assert shown.stdout.count("[rehearsal]") == 2
    assert "/policy" not in shown.stderr
    assert "There is no file at '/nowhere/other.pdf'" in shown.stderr


@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ("what is in note.md?" + block("attachment", "note.md", resource_id="r1"), "what is in note.md?"),
        ("what is it?" + block("attachment", "a<b>.md", resource_id="r1"), "what is it? (a<b>.md)"),
        ("is 1 < 2?", "is 1 < 2?"),
    ],
)
def test_a_stored_question_is_shown_as_it_was_typed(stored: str, typed: str) -> None:
    assert as_typed(stored) == typed


def test_p47_a_blank_user_is_rejected(run: Run) -> None:
    shown = run("chat", "--user", " ", stdin=b"hello\n")
    assert shown.exit_code == 1
    assert "not blank" in shown.stderr
    assert shown.stdout == ""
