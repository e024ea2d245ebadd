import json
import re
from pathlib import Path

import pytest

from tests.unit.apps.cli.conftest import Run


@pytest.fixture
def given(run: Run, tmp_path: Path) -> Path:
    """A note that two chats of the local user have, and one of Bob's."""
    note = tmp_path / "note.md"
    note.write_text("# Keys\n\nThe spare key hangs behind the tide table.\n")
    for chat, user in (("one", "local"), ("two", "local"), ("one", "bob")):
        assert run("ingest", str(note), "--chat", chat, "--user", user).exit_code == 0
    return note


@pytest.mark.parametrize("command", [("sessions", "close"), ("admin", "close-session")])
def test_a_session_is_listed_shown_and_closed(run: Run, given: Path, command: tuple[str, str]) -> None:
    listed = json.loads(run("sessions", "list", "--json").stdout)
    assert listed["total"] == 2
    assert "1 file" in run("sessions", "list").stdout
    chat = listed["sessions"][0]["chat_id"]
    assert run("sessions", "show", chat).stdout == run("sessions", "show", "two").stdout
    assert "note.md" in run("sessions", "show", "two").stdout
    told = json.loads(run(*command, "two", "--json").stdout)
    assert told["resources"] == 1
    assert run("sessions", "show", "two").stdout == "The chat 'two' holds nothing.\n"
    assert "held nothing" in run(*command, "two").stdout
    assert "note.md" in run("sessions", "show", "one").stdout
    assert "note.md" in run("sessions", "show", "one", "--user", "bob").stdout
    assert "tide table" not in run("ask", "where is the spare key?", "--chat", "two").stdout


def test_a_chat_that_goes_on_after_its_end_works(run: Run, given: Path) -> None:
    run("ask", "remember that I row on Sundays", "--chat", "one")
    shown = run("sessions", "show", "one").stdout
    assert "conversation_history" in shown
    closed = run("sessions", "close", "one")
    assert "Deleted for good: 1 file, 1 source. The chat's messages stay" in closed.stdout
    assert "I row on Sundays" in run("memory", "list").stdout
    again = run("ask", "where is the spare key?", "--file", str(given), "--chat", "one")
    assert "tide table" in again.stdout
    assert "conversation_history" in run("sessions", "show", "one").stdout


def test_chats_are_told_apart_by_what_was_said_or_given_last(run: Run, given: Path) -> None:
    run("ask", "hello", "--chat", "two")
    run("ask", "when does the tide turn in Brest?", "--chat", "two")
    said, kept = run("sessions", "list").stdout.split("one · ")
    assert re.fullmatch(
        r"two · \d{4}-\d\d-\d\d \d\d:\d\d · 1 file, 1 source \(.*\)\n"
        r"  User: when does the tide turn in Brest\? .*…\n",
        said,
    )
    assert kept.endswith("\n  note.md\n")


def test_nothing_is_listed_where_nothing_is(run: Run) -> None:
    assert run("sessions", "list").stdout == "No chat holds anything.\n"


def test_p47_a_blank_user_or_chat_is_refused(run: Run, given: Path) -> None:
    for arguments in (("list",), ("show", "one"), ("close", "one")):
        told = run("sessions", *arguments, "--user", " ")
        assert (told.exit_code, told.stdout) == (1, "")
        assert "blank" in told.stderr
    assert run("sessions", "close", " ").exit_code == 1
    assert "note.md" in run("sessions", "show", "one").stdout
