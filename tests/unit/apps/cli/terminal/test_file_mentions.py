import os
from pathlib import Path

import pytest

from apps.cli.terminal.file_mentions import LONGEST_LINE, read_line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder with files, which is the working directory and the user's home."""
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
def test_files_are_found_in_any_notation(folder: Path, line: str, text: str, names: list[str]) -> None:
    result = read_line(line.format(folder=folder), bare=True)
    assert result.text == text
    assert [path.name for path in result.paths] == names
    assert all(path.is_file() for path in result.paths)


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
def test_text_that_names_no_file_is_unchanged(folder: Path, line: str) -> None:
    result = read_line(line, bare=True)
    assert (result.text, result.paths) == (line, [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sum up @missing.pdf, please", "There is no file at 'missing.pdf'"),
        ("@'my missing.txt' and @report.pdf", "There is no file at 'my missing.txt'"),
        ("look at @inside", "'inside' is a folder"),
        ("@./inside/", "'./inside/' is a folder"),
        ("/nowhere/report.pdf what is this?", "There is no file at '/nowhere/report.pdf'"),
        ("{folder}/inside", "/inside' is a folder"),
        ("@/dev/null", "'/dev/null' is not a regular file"),
    ],
)
def test_missing_files_are_reported(folder: Path, line: str, message: str) -> None:
    (shown,) = read_line(line.format(folder=folder), bare=True).missing
    assert message in shown


@pytest.mark.parametrize(
    "line", ["@nobody, hello", "ada@report.pdf", "what does /usr/bin hold?", "and/or", "/usr", "@", "@ home"]
)
def test_ambiguous_words_are_not_reported_as_missing(folder: Path, line: str) -> None:
    assert read_line(line, bare=True).missing == []


def test_piped_lines_need_a_mark_before_a_path(folder: Path) -> None:
    line = f"see {folder}/report.pdf and report.pdf"
    assert read_line(line, bare=False).paths == []
    assert read_line(f"see @{folder}/report.pdf", bare=False).paths == [folder / "report.pdf"]


def test_files_that_block_on_opening_are_ignored(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    assert read_line("@pipe.txt and /dev/zero", bare=True).paths == []
