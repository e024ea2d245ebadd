import re
import shlex
from pathlib import Path

import pytest

from cognition.settings import process_settings
from tests.unit.apps.cli.conftest import ROOT, Run

VARYING = r"dlg_[0-9a-f]{10}|\d{4}-\d\d-\d\d|[\d,]+ tokens in and [\d,]+ out"
"""Text that differs between runs, or changes with a prompt."""


def transcripts(name: str) -> list[str]:
    """Return the console transcripts of a README."""
    return re.findall(r"```console\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)


def test_the_transcripts_of_the_readme_match_the_output(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    seen = 0
    for command, shown in commands(transcripts("README.md")):
        words = shlex.split(command)
        stdin = b""
        if words[0] == "export":
            monkeypatch.setenv(*words[1].split("="))
            process_settings.cache_clear()
            continue
        if "|" in words:
            stdin, words = words[1].replace("\\n", "\n").encode(), words[words.index("|") + 1 :]
        completed = run(*words[1:], stdin=stdin)
        stdout, stderr = lines(completed.stdout), lines(completed.stderr)
        assert set(lines(shown)) <= {*stdout, *stderr}
        seen += bool(stdout)
        assert set(stdout) <= set(lines(shown))
    assert seen == 10


def commands(blocks: list[str]) -> list[tuple[str, str]]:
    """Return each command with its output."""
    joined = "".join(blocks).replace("\\\n", "")
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", joined, re.MULTILINE)


def lines(text: str) -> list[str]:
    """Return the lines of a text without the parts that differ between runs."""
    return [re.sub(VARYING, "…", line) for line in text.splitlines()]


def test_both_readmes_have_the_same_transcripts() -> None:
    assert transcripts("README.md") == transcripts("README.fr.md")
    assert Path(ROOT / "docs" / "harbour-handbook.md").is_file()
