import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from apps.cli.client.chat_ids import chat_label, thread_of
from tests.unit.apps.cli.conftest import Run

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
    (first, *_) = run("agents", "list").stdout.splitlines()
    assert first.endswith(" · my trip")
    listed = told(run, "sessions", "list")["sessions"]
    assert [row["chat_name"] for row in listed] == ["piped", "été", "my trip"]
    assert [row["chat_id"] for row in listed] == [thread_of("local", row["chat_name"]) for row in listed]
    (agent,) = told(run, "agents", "list", "--chat", "my trip")["agents"]
    shown = told(run, "agents", "show", agent["sub_sid"])
    both = {"chat_id": thread_of("local", "my trip"), "chat_name": "my trip"}
    for row in (agent, shown, told(run, "sessions", "show", both["chat_id"])):
        assert {key: row[key] for key in both} == both


def test_the_name_stays_when_the_session_is_closed(run: Run, note: str) -> None:
    run("ingest", note, "--chat", "plant")
    closed = told(run, "sessions", "close", thread_of("local", "plant"))
    assert (closed["chat_name"], closed["resources"]) == ("plant", 1)
    assert run("sessions", "show", thread_of("local", "plant")).stdout == "The chat 'plant' holds nothing.\n"


def test_p47_a_name_is_its_user_s_own(run: Run, note: str) -> None:
    chat = thread_of("local", "secret plan")
    run("ingest", note, "--chat", chat, "--user", "bob")
    run("ingest", note, "--chat", "secret plan")
    assert run("sessions", "list").stdout.startswith("secret plan · ")
    assert run("sessions", "list", "--user", "bob").stdout.startswith(f"{chat} · ")


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
    assert chat_label(row) == "two lines… (the-id)"
    assert chat_label({**row, "chat_name": "x" * 5_000}) == f"{'x' * 60}… (the-id)"


SEATED = ("--participants", "architect,coach", "--rounds", "1")


@pytest.mark.parametrize("chat", ["NOPE", "a b\x07c", "0ad8018f-5a74-56e2-9b2b-434a5eac6d59"])
@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "show", "{}"),
        ("sessions", "close", "{}", "--json"),
        ("agents", "list", "--chat", "{}"),
        ("council", "Split?", *SEATED, "--chat", "{}"),
    ],
)
def test_a_chat_that_is_not_there_is_told(run: Run, command: tuple[str, ...], chat: str) -> None:
    for _ in range(2):  # asking about a chat doesn't begin it
        ran = run(*(word.format(chat) for word in command))
        assert (ran.exit_code, ran.stdout) == (1, "")
        assert ran.stderr.startswith(f"'local' has no chat {chat!r}: `cognition sessions list` shows ")
        assert ran.stderr.count("\n") == 1
        assert "\x07" not in ran.stderr


def test_a_chat_is_there_once_it_was_spoken_in_or_given_something(run: Run, note: str) -> None:
    asked = told(run, "ask", "hello")["chat_id"]
    given = told(run, "ingest", note)["chat_id"]
    for chat in (asked, given):
        assert run("agents", "list", "--chat", chat).stdout == "No sub-agent is open.\n"
        assert run("sessions", "close", chat).stdout.startswith("Deleted for good: ")
        assert run("sessions", "show", chat).stdout == f"The chat '{chat}' holds nothing.\n"
        assert "held nothing to delete" in run("sessions", "close", chat).stdout


def test_a_chat_that_was_never_ingested_or_indexed_is_there(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNITION_INDEX_CONVERSATION", "false")
    chat = told(run, "ask", "hello")["chat_id"]
    assert run("sessions", "show", chat).stdout == f"The chat '{chat}' holds nothing.\n"
    assert run("council", "Split?", *SEATED, "--chat", chat).exit_code == 0


def test_p47_a_chat_of_another_user_is_not_there(run: Run, note: str) -> None:
    run("ingest", note, "--chat", "plant")
    run("ask", "hello", "--chat", "plant")
    for command in ("show", "close"):
        ran = run("sessions", command, "plant", "--user", "eve")
        assert (ran.exit_code, ran.stdout) == (1, "")
        assert ran.stderr.startswith("'eve' has no chat 'plant'")
    assert "1 file" in run("sessions", "list").stdout
