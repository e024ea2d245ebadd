import os
from pathlib import Path

import pytest

from apps.cli.terminal.file_mentions import LONGEST_LINE, read_line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with some files, where the program runs and its user lives."""
    for name in ("report.pdf", "my notes.txt", "Makefile", "it's.md", "été.csv"):
        (tmp_path / name).write_text("something")
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("line", "text", "names"),
    [
        ("{folder}/report.pdf", "report.pdf", ["report.pdf"]),
        ("'{folder}/my notes.txt' ", "my notes.txt ", ["my notes.txt"]),
        ("{folder}/my notes.txt", "my notes.txt", ["my notes.txt"]),
        (r"{folder}/my\ notes.txt what is this?", "my notes.txt what is this?", ["my notes.txt"]),
        ("file://{folder}/my%20notes.txt", "my notes.txt", ["my notes.txt"]),
        ("~/report.pdf", "report.pdf", ["report.pdf"]),
        ("sum up ./report.pdf, please", "sum up report.pdf, please", ["report.pdf"]),
        ("what is in report.pdf?", "what is in report.pdf?", ["report.pdf"]),
        (
            "compare été.csv and my notes.txt.",
            "compare été.csv and my notes.txt.",
            ["été.csv", "my notes.txt"],
        ),
        ("read it's.md (or \"it's.md\")", "read it's.md (or it's.md)", ["it's.md"]),
        ("@Makefile: explain", "Makefile: explain", ["Makefile"]),
        ("@'my notes.txt' @\"report.pdf\"", "my notes.txt report.pdf", ["my notes.txt", "report.pdf"]),
    ],
)
def test_a_file_is_found_however_it_is_written(folder: Path, line: str, text: str, names: list[str]) -> None:
    said = read_line(line.format(folder=folder), bare=True)
    assert said.text == text
    assert [path.name for path in said.paths] == names
    assert all(path.is_file() for path in said.paths)


@pytest.mark.parametrize(
    "line",
    [
        "explain the Makefile",
        "@nobody says hello to ada@report.pdf",
        "look at /nowhere/report.pdf",
        "inside",
        "@inside",
        "./inside/",
        "a\0b/report",
        "x" * 300 + "/" + "y" * 300,
        "'unclosed report",
        "/" * 3000,
        "report.pdf " + "x" * LONGEST_LINE,
        "",
    ],
)
def test_what_is_no_file_stays_as_it_was_said(folder: Path, line: str) -> None:
    said = read_line(line, bare=True)
    assert (said.text, said.paths) == (line, [])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sum up @missing.pdf, please", "There is no file at 'missing.pdf'"),
        ("@'my missing.txt' and @report.pdf", "There is no file at 'my missing.txt'"),
        ("look at @inside", "'inside' is a folder"),
        ("@./inside/", "'./inside/' is a folder"),
        ("/nowhere/report.pdf what is this?", "There is no file at '/nowhere/report.pdf'"),
        ("{folder}/inside", "/inside' is a folder"),
        ("@/dev/null", "'/dev/null' is no regular file"),
    ],
)
def test_what_is_meant_as_a_file_and_is_none_is_told(folder: Path, line: str, told: str) -> None:
    (sentence,) = read_line(line.format(folder=folder), bare=True).missing
    assert told in sentence


@pytest.mark.parametrize(
    "line", ["@nobody, hello", "ada@report.pdf", "what does /usr/bin hold?", "and/or", "/usr", "@", "@ home"]
)
def test_what_may_be_anything_else_is_no_missing_file(folder: Path, line: str) -> None:
    assert read_line(line, bare=True).missing == []


def test_without_a_mark_a_pipe_names_no_file(folder: Path) -> None:
    line = f"see {folder}/report.pdf and report.pdf"
    assert read_line(line, bare=False).paths == []
    assert read_line(f"see @{folder}/report.pdf", bare=False).paths == [folder / "report.pdf"]


def test_what_blocks_when_it_is_opened_is_no_file(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    assert read_line("@pipe.txt and /dev/zero", bare=True).paths == []
