import re
import shlex
from pathlib import Path

import pytest

from cognition.settings import process_settings
from tests.unit.apps.cli.conftest import ROOT, Run

FRESH = r"dlg_[0-9a-f]{10}|\d{4}-\d\d-\d\d|[\d,]+ tokens in and [\d,]+ out"
"""What is another each time, or with each change of a prompt."""


def transcripts(name: str) -> list[str]:
    """What a README shows of the terminal."""
    return re.findall(r"```console\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)


def test_what_the_readme_shows_of_the_terminal_is_what_happens(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        ran = run(*words[1:], stdin=stdin)
        said, told = lines(ran.stdout), lines(ran.stderr)
        assert set(lines(shown)) <= {*said, *told}
        seen += bool(said)
        assert set(said) <= set(lines(shown))
    assert seen == 10


def commands(blocks: list[str]) -> list[tuple[str, str]]:
    """Each command, and what it shows."""
    joined = "".join(blocks).replace("\\\n", "")
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", joined, re.MULTILINE)


def lines(text: str) -> list[str]:
    """Its lines, without what is another each time."""
    return [re.sub(FRESH, "…", line) for line in text.splitlines()]


def test_both_readmes_show_the_same_of_the_terminal() -> None:
    assert transcripts("README.md") == transcripts("README.fr.md")
    assert Path(ROOT / "docs" / "harbour-handbook.md").is_file()
