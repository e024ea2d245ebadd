import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cognition.settings import process_settings
from cognition.storage.disk.folder_lock import FolderLock
from tests.files import PNG
from tests.unit.apps.cli.conftest import Run

Program = Callable[..., "subprocess.CompletedProcess[str]"]

LINES = [f"Entry {n}: the valve of tank {n} opens at {n * 7} bar." for n in range(1, 90)]

DYING = """
import os, signal, sys
from cognition.storage.resources import Registry

name, left = sys.argv.pop(1), int(sys.argv.pop(1))
wrapped = getattr(Registry, name)

def dying(*arguments, **named):
    global left
    told = wrapped(*arguments, **named)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return told

setattr(Registry, name, dying)
from apps.cli.main import app
app()
"""
"""The command, killed after so many calls of a method of the registry."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of a note, a log that is searched, a picture, and what holds no text."""
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    (folder / "note.md").write_text("# Keys\n\nThe spare key hangs behind the tide table.\n")
    (folder / "deep" / "valves.log").write_text("\n".join(LINES))
    (folder / "pixel.png").write_bytes(PNG)
    (folder / "numbers.bin").write_bytes(bytes(range(256)) * 20)
    (folder / ".hidden").write_text("not for you")
    return folder


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is longer than a page is searched, so that tests need no large file."""
    monkeypatch.setenv("COGNITION_CONTEXT_FILE_BYTES", "2000")


def held(run: Run, chat: str) -> dict[str, Any]:
    """What a chat holds, without ids and times."""
    told = json.loads(run("sessions", "show", chat, "--json").stdout)
    fresh = ("id", "source_id", "created_on", "indexed_on")
    rows = {
        kind: sorted(
            ({key: value for key, value in row.items() if key not in fresh} for row in told[kind]),
            key=lambda row: str(row["name"]),
        )
        for kind in ("resources", "sources")
    }
    for row in rows["resources"]:
        row["summary"] = row["summary"].split("source_id")[0]
    return rows


def test_each_file_comes_where_it_belongs(run: Run, files: Path) -> None:
    ran = run("ingest", str(files), "-r", "--chat", "plant", "--json")
    assert ran.exit_code == 1, ran.output
    told = {row["name"]: row for row in json.loads(ran.stdout)["resources"]}
    assert {name: row["status"] for name, row in told.items()} == {
        "note.md": "PUT_IN_CONTEXT",
        "valves.log": "VECTORIZED_SUM_UP",
        "pixel.png": "INDEXED",
        "numbers.bin": "INDEXED",
    }
    assert told["valves.log"]["chunks"] > 1
    assert told["numbers.bin"]["error"]
    assert told["pixel.png"]["error"].startswith("No model is there to look at it: set GOOGLE_API_KEY")
    shown = run("ask", "at how many bar does the valve of tank 42 open?", "--chat", "plant").stdout
    assert "opens at 294 bar" in shown


def test_p60_the_same_file_again_or_renamed_is_there_once(run: Run, files: Path) -> None:
    log = files / "deep" / "valves.log"
    run("ingest", str(log), "--chat", "plant")
    once = held(run, "plant")
    log.rename(files / "other.txt")
    again = run("ingest", str(files / "other.txt"), str(files / "other.txt"), "--chat", "plant")
    assert again.stdout.count("searchable") == 1
    assert held(run, "plant") == once


def test_what_can_t_be_taken_is_told_and_the_rest_goes_on(run: Run, files: Path) -> None:
    ran = run("ingest", str(files), "/nowhere/a.pdf", str(files / "note.md"), "--chat", "plant")
    assert ran.exit_code == 1
    assert ran.stdout == "✓ note.md: read whole\n"
    assert "is a folder: name a file, or take the folder's with `cognition ingest --recursive`." in ran.stderr
    assert "There is no file at '/nowhere/a.pdf'" in ran.stderr


def test_nothing_of_the_folder_of_the_settings_is_given_to_a_chat(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("something")
    run("ingest", str(tmp_path / "note.md"), "--chat", "one")
    ran = run("ingest", str(tmp_path), "-r", "--chat", "two")
    assert ran.stdout == "✓ note.md: read whole\n"


def test_without_a_chat_a_new_one_is_told(run: Run, files: Path) -> None:
    ran = run("ingest", str(files / "note.md"))
    chat = ran.stderr.strip().rpartition(" ")[2]
    assert "tide table" in run("ask", "where is the spare key?", "--chat", chat).stdout


def test_p47_a_blank_user_or_chat_is_refused(run: Run, files: Path) -> None:
    for own in (("--user", " "), ("--chat", " ")):
        ran = run("ingest", str(files / "note.md"), *own)
        assert ran.exit_code == 1
        assert ran.stdout == ""
        assert ran.stderr.strip()
        assert "Traceback" not in ran.output


@pytest.mark.parametrize(("method", "calls"), [("add", 2), ("update", 4), ("put_in_context", 1)])
def test_killed_in_the_middle_it_goes_on_and_comes_out_the_same(
    run: Run,
    files: Path,
    bare_environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    calls: int,
) -> None:
    arguments = ("ingest", str(files), "--recursive", "--chat", "plant")
    killed = subprocess.run(
        [sys.executable, "-c", DYING, method, str(calls), *arguments],
        env={**bare_environment, "COGNITION_CONTEXT_FILE_BYTES": "2000"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert killed.returncode == -9, killed.stderr.decode()
    begun = held(run, "plant")
    assert any(row["status"] == "PENDING_INGESTION" for row in begun["resources"])
    assert "numbers.bin: registered only" in run(*arguments).stdout
    resumed = held(run, "plant")
    monkeypatch.setenv("COGNITION_HOME", str(tmp_path / "another"))
    process_settings.cache_clear()
    run(*arguments)
    assert resumed == held(run, "plant")
    assert begun != resumed


def test_a_folder_that_another_holds_is_refused_with_its_pid(run: Run, files: Path, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "home", "http://127.0.0.1:9"):
        ran = run("ingest", str(files / "note.md"))
    assert ran.exit_code == 1
    assert "in use by process" in ran.stderr


def test_a_question_takes_its_file_along(run: Run, files: Path) -> None:
    ran = run("ask", "where is the spare key?", "--file", str(files / "note.md"), "--json")
    assert "tide table" in json.loads(ran.stdout)["answer"]
    assert "note.md: read whole" in ran.stderr
    refused = run("ask", "what is this?", "--file", "/nowhere/a.pdf")
    assert refused.exit_code == 1
    assert "/nowhere/a.pdf" in refused.stderr


def test_a_line_of_the_chat_takes_its_files_along(run: Run, files: Path) -> None:
    lines = [
        f"where is the spare key? see @{files}/note.md",
        f"at how many bar opens tank 42? @{files}/deep/valves.log",
    ]
    ran = run("chat", "--chat", "plant", stdin="\n".join(lines).encode())
    assert "tide table" in ran.stdout
    assert "opens at 294 bar" in ran.stdout
    assert "· note.md: read whole" in ran.stderr
    assert "· valves.log: searchable" in ran.stderr
    assert "· search_sessions_context" in ran.stderr


@pytest.mark.parametrize("recursive", [(), ("-r",)])
def test_what_cognition_keeps_itself_is_refused(run: Run, files: Path, recursive: tuple[str, ...]) -> None:
    run("ingest", str(files / "note.md"), "--chat", "one")
    home = process_settings().home
    for path in (next(home.rglob("note.md")), *([home] if recursive else [])):
        ran = run("ingest", str(path), *recursive, "--chat", "two")
        assert (ran.exit_code, ran.stdout) == (1, "")
        assert f"{str(path)!r} is inside the folder that Cognition keeps itself" in ran.stderr
    kept = str(next(home.rglob("note.md")))
    asked = run("ask", "what is this?", "--file", kept)
    assert (asked.exit_code, asked.stdout) == (1, "")
    assert "is inside the folder" in asked.stderr
    said = run("chat", stdin=f"what is this? @{kept}".encode())
    assert said.exit_code == 1
    assert "is inside the folder" in said.stderr


def test_a_folder_without_files_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty" / "deeper").mkdir(parents=True)
    ran = run("ingest", str(tmp_path / "empty"), "-r")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert f"{str(tmp_path / 'empty')!r} holds no files" in ran.stderr


def test_one_bad_file_leaves_nothing_of_the_others(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNITION_FILE_BYTES", "1000")
    for bad, told in (("/nowhere/a.pdf", "There is no file"), (files / "numbers.bin", "'numbers.bin' can't")):
        ran = run("ask", "what?", "--file", str(files / "note.md"), "--file", str(bad), "--chat", "plant")
        assert ran.exit_code == 1
        assert told in ran.stderr
        assert "has no chat 'plant'" in run("sessions", "show", "plant").stderr


def test_each_file_has_its_line_though_another_holds_the_same(run: Run, files: Path) -> None:
    (files / "twin.md").write_bytes((files / "note.md").read_bytes())
    given = [str(files / "note.md"), str(files / "twin.md")]
    ran = run("ingest", *given, "--chat", "plant")
    assert ran.exit_code == 0
    assert ran.stdout == f"✓ note.md: read whole\n= {given[1]}: same content as note.md\n"
    again = json.loads(run("ingest", given[1], "--chat", "plant", "--json").stdout)
    assert [row["name"] for row in again["resources"]] == ["note.md"]
    assert again["refused"] == []
    assert again["repeated"] == [f"{given[1]}: same content as note.md"]


def test_what_can_t_be_read_is_marked_and_fails_alone_and_beside_others(run: Run, files: Path) -> None:
    (files / "bad.pdf").write_bytes(b"%PDF-1.4\n" + bytes(range(256)))
    alone = run("ingest", str(files / "bad.pdf"), "--chat", "plant")
    assert alone.exit_code == 1
    assert alone.stdout.startswith("– bad.pdf: registered only. 'bad.pdf' is damaged")
    assert "Ask about it" not in alone.stderr
    beside = run("ingest", str(files / "bad.pdf"), str(files / "note.md"), "--chat", "plant")
    assert beside.exit_code == 1
    assert "Ask about it: cognition chat --chat plant" in beside.stderr
    assert "– bad.pdf: " in beside.stdout
    assert "✓ note.md: " in beside.stdout


@pytest.mark.parametrize("chat", [(), ("--chat", "plant")])
def test_what_is_stopped_says_how_to_go_on(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, chat: tuple[str, ...]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cognition.ingestion.intake.Intake.take", interrupted)
    ran = run("ingest", str(files / "note.md"), *chat)
    assert ran.exit_code == 130
    assert ran.stderr.startswith("Stopped: give the same command again ")
    assert ("with --chat" in ran.stderr) is not bool(chat)


def test_a_question_about_a_file_names_the_chat_to_go_on_with(run: Run, files: Path) -> None:
    file = ("--file", str(files / "note.md"))
    ran = run("ask", "where is the spare key?", *file)
    chat = ran.stderr.strip().rpartition("--chat ")[2]
    assert "tide table" in run("ask", "and where is the spare key?", "--chat", chat).stdout
    assert "--chat" not in run("ask", "where is the spare key?", *file, "--chat", "plant").stderr
    assert "--chat" not in run("ask", "hello").stderr


def test_a_single_passage_is_told_as_one(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNITION_CONTEXT_FILE_BYTES", "0")
    assert run("ingest", str(files / "note.md"), "--chat", "x").stdout == "✓ note.md: searchable, 1 passage\n"
