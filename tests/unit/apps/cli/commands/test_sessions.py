import json
import re
from pathlib import Path

import pytest

from tests.unit.apps.cli.conftest import Run


@pytest.fixture
def note(run: Run, tmp_path: Path) -> Path:
    """Add a note to two chats of the local user and to one of Bob's."""
    path = tmp_path / "note.md"
    path.write_text("# Keys\n\nThe spare key hangs behind the tide table.\n")
    for chat, user in (("one", "local"), ("two", "local"), ("one", "bob")):
        assert run("ingest", str(path), "--chat", chat, "--user", user).exit_code == 0
    return path


@pytest.mark.parametrize("command", [("sessions", "close"), ("admin", "close-session")])
def test_a_session_is_listed_shown_and_closed(run: Run, note: Path, command: tuple[str, str]) -> None:
    listed = json.loads(run("sessions", "list", "--json").stdout)
    assert listed["total"] == 2
    assert "1 file" in run("sessions", "list").stdout
    chat = listed["sessions"][0]["chat_id"]
    assert run("sessions", "show", chat).stdout == run("sessions", "show", "two").stdout
    assert "note.md" in run("sessions", "show", "two").stdout
    result = json.loads(run(*command, "two", "--json").stdout)
    assert result["resources"] == 1
    assert run("sessions", "show", "two").stdout == "Chat 'two' holds no files, sources or sub-agents.\n"
    assert "had nothing to delete" in run(*command, "two").stdout
    assert "note.md" in run("sessions", "show", "one").stdout
    assert "note.md" in run("sessions", "show", "one", "--user", "bob").stdout
    assert "tide table" not in run("ask", "where is the spare key?", "--chat", "two").stdout


def test_a_chat_can_continue_after_its_session_is_closed(run: Run, note: Path) -> None:
    run("ask", "remember that I row on Sundays", "--chat", "one")
    shown = run("sessions", "show", "one").stdout
    assert "conversation_history" in shown
    closed = run("sessions", "close", "one")
    assert "Deleted permanently: 1 file, 1 source. The chat's messages and" in closed.stdout
    assert "I row on Sundays" in run("memory", "list").stdout
    again = run("ask", "where is the spare key?", "--file", str(note), "--chat", "one")
    assert "tide table" in again.stdout
    assert "conversation_history" in run("sessions", "show", "one").stdout


def test_a_chat_is_described_by_its_last_messages_or_files(run: Run, note: Path) -> None:
    run("ask", "hello", "--chat", "two")
    run("ask", "when does the tide turn in Brest?", "--chat", "two")
    spoken, silent = run("sessions", "list").stdout.split("one · ")
    assert re.fullmatch(
        r"two · \d{4}-\d\d-\d\d \d\d:\d\d · 1 file, 1 source \(.*\)\n"
        r"  User: when does the tide turn in Brest\? .*…\n",
        spoken,
    )
    assert silent.endswith("\n  note.md\n")


def test_an_empty_listing(run: Run) -> None:
    assert run("sessions", "list").stdout == "No chats with files, sources or sub-agents.\n"


def test_p47_a_blank_user_or_chat_is_rejected(run: Run, note: Path) -> None:
    for arguments in (("list",), ("show", "one"), ("close", "one")):
        result = run("sessions", *arguments, "--user", " ")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "blank" in result.stderr
    assert run("sessions", "close", " ").exit_code == 1
    assert "note.md" in run("sessions", "show", "one").stdout
