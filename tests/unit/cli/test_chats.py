import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cognition.cli.chats import called, thread_of
from tests.unit.cli.conftest import Run

ASKED = "delegate: plan a trip, and ask me where to go"


@pytest.fixture
def note(tmp_path: Path) -> str:
    note = tmp_path / "note.md"
    note.write_text("The spare key hangs behind the tide table.")
    return str(note)


def told(run: Run, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(run(*arguments, "--json").stdout))


def test_a_chat_is_shown_by_the_name_that_its_user_gave_it(run: Run, note: str) -> None:
    run("ask", ASKED, "--chat", "my trip")
    run("ingest", note, "--chat", "été")
    run("chat", "--chat", "piped", stdin=b"hello\n")
    assert re.findall("^(.*?) · ", run("sessions", "list").stdout, re.MULTILINE) == [
        "piped",
        "été",
        "my trip",
    ]
    (first, *_) = run("threads", "list").stdout.splitlines()
    assert first.endswith(" · my trip")
    listed = told(run, "sessions", "list")["sessions"]
    assert [row["chat_name"] for row in listed] == ["piped", "été", "my trip"]
    assert [row["chat_id"] for row in listed] == [thread_of(row["chat_name"]) for row in listed]
    (agent,) = told(run, "threads", "list", "--chat", "my trip")["agents"]
    shown = told(run, "threads", "show", agent["sub_sid"])
    both = {"chat_id": thread_of("my trip"), "chat_name": "my trip"}
    for row in (agent, shown, told(run, "sessions", "show", both["chat_id"])):
        assert {key: row[key] for key in both} == both


def test_the_name_stays_when_the_session_is_closed(run: Run, note: str) -> None:
    run("ingest", note, "--chat", "plant")
    closed = told(run, "sessions", "close", thread_of("plant"))
    assert (closed["chat_name"], closed["resources"]) == ("plant", 1)
    assert run("sessions", "show", thread_of("plant")).stdout == "The chat 'plant' holds nothing.\n"


def test_p47_a_name_is_its_user_s_own(run: Run, note: str) -> None:
    for user in ((), ("--user", "bob")):
        run("ingest", note, "--chat", thread_of("secret plan"), *user)
    run("ingest", note, "--chat", "secret plan")
    assert run("sessions", "list").stdout.startswith("secret plan · ")
    assert run("sessions", "list", "--user", "bob").stdout.startswith(f"{thread_of('secret plan')} · ")


def test_a_chat_without_a_name_is_shown_by_its_id(run: Run) -> None:
    answered = told(run, "ask", "hello")
    assert answered["chat_name"] == ""
    (row,) = told(run, "sessions", "list")["sessions"]
    assert (row["chat_id"], row["chat_name"]) == (answered["chat_id"], "")
    assert run("sessions", "list").stdout.startswith(f"{answered['chat_id']} · ")


def test_a_name_does_no_harm_in_a_terminal_or_a_shell(run: Run, note: str) -> None:
    ran = run("ingest", note, "--chat", "a\x1b[2J; rm -r *")
    assert shlex.split(ran.stderr)[-1] == "a; rm -r *"
    assert run("sessions", "list").stdout.startswith("a; rm -r * · ")
    row = {"chat_id": "the-id", "chat_name": "two\nlines"}
    assert called(row) == "two lines… (the-id)"
    assert called({**row, "chat_name": "x" * 5_000}) == f"{'x' * 60}… (the-id)"
