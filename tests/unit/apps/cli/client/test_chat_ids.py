import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from apps.cli.client.chat_ids import chat_label, thread_of
from tests.unit.apps.cli.conftest import Run

EMPTY = "Chat '{}' holds no files, sources or sub-agents.\n"
DELEGATED = "delegate: plan a trip, and ask me where to go"


@pytest.fixture
def note(tmp_path: Path) -> str:
    note = tmp_path / "note.md"
    note.write_text("The spare key hangs behind the tide table.")
    return str(note)


def result(run: Run, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(run(*arguments, "--json").stdout))


def test_a_chat_is_listed_under_the_name_its_user_gave_it(run: Run, note: str) -> None:
    run("ask", DELEGATED, "--chat", "my trip")
    run("ingest", note, "--chat", "été")
    run("chat", "--chat", "piped", stdin=b"hello\n")
    assert re.findall("^(.*?) · ", run("sessions", "list").stdout, re.MULTILINE) == [
        "piped",
        "été",
        "my trip",
    ]
    (first, *_) = run("agents", "list").stdout.splitlines()
    assert first.endswith(" · my trip")
    listed = result(run, "sessions", "list")["sessions"]
    assert [row["chat_name"] for row in listed] == ["piped", "été", "my trip"]
    assert [row["chat_id"] for row in listed] == [thread_of("local", row["chat_name"]) for row in listed]
    (agent,) = result(run, "agents", "list", "--chat", "my trip")["agents"]
    shown = result(run, "agents", "show", agent["sub_sid"])
    both = {"chat_id": thread_of("local", "my trip"), "chat_name": "my trip"}
    for row in (agent, shown, result(run, "sessions", "show", both["chat_id"])):
        assert {key: row[key] for key in both} == both


def test_closing_a_session_keeps_the_name(run: Run, note: str) -> None:
    run("ingest", note, "--chat", "plant")
    closed = result(run, "sessions", "close", thread_of("local", "plant"))
    assert (closed["chat_name"], closed["resources"]) == ("plant", 1)
    assert run("sessions", "show", thread_of("local", "plant")).stdout == EMPTY.format("plant")


def test_p47_names_are_private_to_a_user(run: Run, note: str) -> None:
    chat = thread_of("local", "secret plan")
    run("ingest", note, "--chat", chat, "--user", "bob")
    run("ingest", note, "--chat", "secret plan")
    assert run("sessions", "list").stdout.startswith("secret plan · ")
    assert run("sessions", "list", "--user", "bob").stdout.startswith(f"{chat} · ")


def test_a_chat_without_a_name_is_listed_under_its_id(run: Run) -> None:
    answered = result(run, "ask", "hello")
    assert answered["chat_name"] == ""
    (row,) = result(run, "sessions", "list")["sessions"]
    assert (row["chat_id"], row["chat_name"]) == (answered["chat_id"], "")
    assert run("sessions", "list").stdout.startswith(f"{answered['chat_id']} · ")


def test_names_are_escaped_for_terminals_and_shells(run: Run, note: str) -> None:
    completed = run("ingest", note, "--chat", "a\x1b[2J; rm -r *")
    assert shlex.split(completed.stderr)[-1] == "a; rm -r *"
    assert run("sessions", "list").stdout.startswith("a; rm -r * · ")
    row = {"chat_id": "the-id", "chat_name": "two\nlines"}
    assert chat_label(row) == "two lines… (the-id)"
    assert chat_label({**row, "chat_name": "x" * 5_000}) == f"{'x' * 60}… (the-id)"


COUNCIL = ("--participants", "architect,coach", "--rounds", "1")


@pytest.mark.parametrize("chat", ["NOPE", "a b\x07c", "0ad8018f-5a74-56e2-9b2b-434a5eac6d59"])
@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "show", "{}"),
        ("sessions", "close", "{}", "--json"),
        ("agents", "list", "--chat", "{}"),
        ("council", "Split?", *COUNCIL, "--chat", "{}"),
    ],
)
def test_an_unknown_chat_is_an_error(run: Run, command: tuple[str, ...], chat: str) -> None:
    for _ in range(2):  # a failed request must not create the chat
        completed = run(*(word.format(chat) for word in command))
        assert (completed.exit_code, completed.stdout) == (1, "")
        assert completed.stderr.startswith(
            f"Unknown chat {chat!r} of user 'local'. `cognition sessions list` "
        )
        assert completed.stderr.count("\n") == 1
        assert "\x07" not in completed.stderr


def test_a_chat_exists_once_it_has_a_message_or_a_file(run: Run, note: str) -> None:
    asked = result(run, "ask", "hello")["chat_id"]
    ingested = result(run, "ingest", note)["chat_id"]
    for chat in (asked, ingested):
        assert run("agents", "list", "--chat", chat).stdout == "No open sub-agents.\n"
        assert run("sessions", "close", chat).stdout.startswith("Deleted permanently: ")
        assert run("sessions", "show", chat).stdout == EMPTY.format(chat)
        assert "had nothing to delete" in run("sessions", "close", chat).stdout


def test_a_chat_exists_even_if_nothing_was_ingested_or_indexed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNITION_INDEX_CONVERSATION", "false")
    chat = result(run, "ask", "hello")["chat_id"]
    assert run("sessions", "show", chat).stdout == EMPTY.format(chat)
    assert run("council", "Split?", *COUNCIL, "--chat", chat).exit_code == 0


def test_p47_a_chat_of_another_user_is_unknown(run: Run, note: str) -> None:
    run("ingest", note, "--chat", "plant")
    run("ask", "hello", "--chat", "plant")
    for command in ("show", "close"):
        completed = run("sessions", command, "plant", "--user", "eve")
        assert (completed.exit_code, completed.stdout) == (1, "")
        assert completed.stderr.startswith("Unknown chat 'plant' of user 'eve'")
    assert "1 file" in run("sessions", "list").stdout
