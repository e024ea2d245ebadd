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
from cognition.storage.resources import ResourceTable

name, left = sys.argv.pop(1), int(sys.argv.pop(1))
wrapped = getattr(ResourceTable, name)

def dying(*arguments, **named):
    global left
    result = wrapped(*arguments, **named)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(ResourceTable, name, dying)
from apps.cli.main import app
app()
"""
"""A program that runs the command and is killed after a number of calls of a registry method."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Create a folder with a note, a large log, a picture and a binary file."""
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
    """Index everything longer than a page, so that tests need no large files."""
    monkeypatch.setenv("COGNITION_CONTEXT_FILE_BYTES", "2000")


def contents(run: Run, chat: str) -> dict[str, Any]:
    """Return the contents of a chat, without ids and dates."""
    result = json.loads(run("sessions", "show", chat, "--json").stdout)
    varying = ("id", "source_id", "created_on", "indexed_on")
    rows = {
        kind: sorted(
            ({key: value for key, value in row.items() if key not in varying} for row in result[kind]),
            key=lambda row: str(row["name"]),
        )
        for kind in ("resources", "sources")
    }
    for row in rows["resources"]:
        row["summary"] = row["summary"].split("source_id")[0]
    return rows


def test_each_file_is_routed_by_its_kind_and_size(run: Run, files: Path) -> None:
    completed = run("ingest", str(files), "-r", "--chat", "plant", "--json")
    assert completed.exit_code == 1, completed.output
    result = {row["name"]: row for row in json.loads(completed.stdout)["resources"]}
    assert {name: row["status"] for name, row in result.items()} == {
        "note.md": "PUT_IN_CONTEXT",
        "valves.log": "VECTORIZED_SUM_UP",
        "pixel.png": "INDEXED",
        "numbers.bin": "INDEXED",
    }
    assert result["valves.log"]["chunks"] > 1
    assert result["numbers.bin"]["error"]
    assert result["pixel.png"]["error"].startswith(
        "No model is available to read this file. Set GOOGLE_API_KEY"
    )
    shown = run("ask", "at how many bar does the valve of tank 42 open?", "--chat", "plant").stdout
    assert "opens at 294 bar" in shown


def test_p60_a_file_given_again_or_renamed_is_stored_once(run: Run, files: Path) -> None:
    log = files / "deep" / "valves.log"
    run("ingest", str(log), "--chat", "plant")
    once = contents(run, "plant")
    log.rename(files / "other.txt")
    again = run("ingest", str(files / "other.txt"), str(files / "other.txt"), "--chat", "plant")
    assert again.stdout.count("searchable") == 1
    assert contents(run, "plant") == once


def test_rejected_files_are_reported_and_the_others_are_ingested(run: Run, files: Path) -> None:
    completed = run("ingest", str(files), "/nowhere/a.pdf", str(files / "note.md"), "--chat", "plant")
    assert completed.exit_code == 1
    assert completed.stdout == "✓ note.md: read in full\n"
    assert "is a folder. Give a file, or add all files of the folder with" in completed.stderr
    assert "There is no file at '/nowhere/a.pdf'" in completed.stderr


def test_files_of_the_home_folder_are_skipped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("something")
    run("ingest", str(tmp_path / "note.md"), "--chat", "one")
    completed = run("ingest", str(tmp_path), "-r", "--chat", "two")
    assert completed.stdout == "✓ note.md: read in full\n"


def test_without_a_chat_a_new_one_is_created_and_shown(run: Run, files: Path) -> None:
    completed = run("ingest", str(files / "note.md"))
    chat = completed.stderr.strip().rpartition(" ")[2]
    assert "tide table" in run("ask", "where is the spare key?", "--chat", chat).stdout


def test_p47_a_blank_user_or_chat_is_rejected(run: Run, files: Path) -> None:
    for own in (("--user", " "), ("--chat", " ")):
        completed = run("ingest", str(files / "note.md"), *own)
        assert completed.exit_code == 1
        assert completed.stdout == ""
        assert completed.stderr.strip()
        assert "Traceback" not in completed.output


@pytest.mark.parametrize(("method", "calls"), [("add", 2), ("update", 4), ("put_in_context", 1)])
def test_an_ingestion_that_was_killed_resumes_with_the_same_result(
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
    interrupted_contents = contents(run, "plant")
    assert any(row["status"] == "PENDING_INGESTION" for row in interrupted_contents["resources"])
    assert "numbers.bin: registered only" in run(*arguments).stdout
    resumed = contents(run, "plant")
    monkeypatch.setenv("COGNITION_HOME", str(tmp_path / "another"))
    process_settings.cache_clear()
    run(*arguments)
    assert resumed == contents(run, "plant")
    assert interrupted_contents != resumed


def test_a_locked_home_folder_is_reported_with_the_pid(run: Run, files: Path, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "home", "http://127.0.0.1:9"):
        completed = run("ingest", str(files / "note.md"))
    assert completed.exit_code == 1
    assert "in use by process" in completed.stderr


def test_a_file_is_attached_to_a_question(run: Run, files: Path) -> None:
    completed = run("ask", "where is the spare key?", "--file", str(files / "note.md"), "--json")
    assert "tide table" in json.loads(completed.stdout)["answer"]
    assert "note.md: read in full" in completed.stderr
    rejected = run("ask", "what is this?", "--file", "/nowhere/a.pdf")
    assert rejected.exit_code == 1
    assert "/nowhere/a.pdf" in rejected.stderr


def test_files_are_attached_to_lines_of_a_chat(run: Run, files: Path) -> None:
    lines = [
        f"where is the spare key? see @{files}/note.md",
        f"at how many bar opens tank 42? @{files}/deep/valves.log",
    ]
    completed = run("chat", "--chat", "plant", stdin="\n".join(lines).encode())
    assert "tide table" in completed.stdout
    assert "opens at 294 bar" in completed.stdout
    assert "· note.md: read in full" in completed.stderr
    assert "· valves.log: searchable" in completed.stderr
    assert "· search_sessions_context" in completed.stderr


@pytest.mark.parametrize("recursive", [(), ("-r",)])
def test_paths_in_the_home_folder_are_rejected(run: Run, files: Path, recursive: tuple[str, ...]) -> None:
    run("ingest", str(files / "note.md"), "--chat", "one")
    home = process_settings().home
    for path in (next(home.rglob("note.md")), *([home] if recursive else [])):
        completed = run("ingest", str(path), *recursive, "--chat", "two")
        assert (completed.exit_code, completed.stdout) == (1, "")
        assert f"{str(path)!r} is inside the home folder" in completed.stderr
    stored = str(next(home.rglob("note.md")))
    asked = run("ask", "what is this?", "--file", stored)
    assert (asked.exit_code, asked.stdout) == (1, "")
    assert "is inside the home folder" in asked.stderr
    piped = run("chat", stdin=f"what is this? @{stored}".encode())
    assert piped.exit_code == 1
    assert "is inside the home folder" in piped.stderr


def test_a_folder_without_files_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty" / "deeper").mkdir(parents=True)
    completed = run("ingest", str(tmp_path / "empty"), "-r")
    assert (completed.exit_code, completed.stdout) == (1, "")
    assert f"{str(tmp_path / 'empty')!r} contains no files" in completed.stderr


def test_no_file_is_stored_if_one_is_rejected(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNITION_FILE_BYTES", "1000")
    for bad, message in (
        ("/nowhere/a.pdf", "There is no file"),
        (files / "numbers.bin", "Could not store 'numbers.bin'"),
    ):
        completed = run(
            "ask", "what?", "--file", str(files / "note.md"), "--file", str(bad), "--chat", "plant"
        )
        assert completed.exit_code == 1
        assert message in completed.stderr
        assert "Unknown chat 'plant'" in run("sessions", "show", "plant").stderr


def test_duplicate_files_are_reported_separately(run: Run, files: Path) -> None:
    (files / "twin.md").write_bytes((files / "note.md").read_bytes())
    paths = [str(files / "note.md"), str(files / "twin.md")]
    completed = run("ingest", *paths, "--chat", "plant")
    assert completed.exit_code == 0
    assert completed.stdout == f"✓ note.md: read in full\n= {paths[1]}: same content as note.md\n"
    again = json.loads(run("ingest", paths[1], "--chat", "plant", "--json").stdout)
    assert [row["name"] for row in again["resources"]] == ["note.md"]
    assert again["refused"] == []
    assert again["repeated"] == [f"{paths[1]}: same content as note.md"]


def test_unreadable_files_are_marked_alone_and_among_others(run: Run, files: Path) -> None:
    (files / "bad.pdf").write_bytes(b"%PDF-1.4\n" + bytes(range(256)))
    alone = run("ingest", str(files / "bad.pdf"), "--chat", "plant")
    assert alone.exit_code == 1
    assert alone.stdout.startswith("– bad.pdf: registered only. 'bad.pdf' is damaged")
    assert "To ask about it" not in alone.stderr
    mixed = run("ingest", str(files / "bad.pdf"), str(files / "note.md"), "--chat", "plant")
    assert mixed.exit_code == 1
    assert "To ask about it: cognition chat --chat plant" in mixed.stderr
    assert "– bad.pdf: " in mixed.stdout
    assert "✓ note.md: " in mixed.stdout


@pytest.mark.parametrize("chat", [(), ("--chat", "plant")])
def test_a_stopped_ingestion_shows_how_to_continue(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, chat: tuple[str, ...]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cognition.ingestion.intake.Intake.take", interrupted)
    completed = run("ingest", str(files / "note.md"), *chat)
    assert completed.exit_code == 130
    assert completed.stderr.startswith("Stopped. Run the same command again ")
    assert ("with --chat" in completed.stderr) is not bool(chat)


def test_a_question_about_a_file_shows_its_chat(run: Run, files: Path) -> None:
    file = ("--file", str(files / "note.md"))
    completed = run("ask", "where is the spare key?", *file)
    chat = completed.stderr.strip().rpartition("--chat ")[2]
    assert "tide table" in run("ask", "and where is the spare key?", "--chat", chat).stdout
    assert "--chat" not in run("ask", "where is the spare key?", *file, "--chat", "plant").stderr
    assert "--chat" not in run("ask", "hello").stderr


def test_a_single_passage_is_singular(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNITION_CONTEXT_FILE_BYTES", "0")
    assert run("ingest", str(files / "note.md"), "--chat", "x").stdout == "✓ note.md: searchable, 1 passage\n"
