import re
import shlex
from pathlib import Path

import pytest

from cognition.settings import process_settings
from tests.unit.cli.conftest import ROOT, Run


def transcripts(name: str) -> list[str]:
    """What a README shows of files and sub-agents."""
    section = re.search(
        r"^## Fi(?:les|chiers)\n(.*?)^## Experts", (ROOT / name).read_text(), re.DOTALL | re.MULTILINE
    )
    assert section
    return re.findall(r"```console\n(.*?)```", section[1], re.DOTALL)


def test_what_the_readme_shows_of_files_and_sub_agents_is_what_happens(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    seen = 0
    for transcript in transcripts("README.md"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", transcript, re.MULTILINE):
            words = shlex.split(command)
            stdin = b""
            if words[0] == "export":
                monkeypatch.setenv(*words[1].split("="))
                process_settings.cache_clear()
                continue
            if words[0] == "printf":
                stdin, words = words[1].replace("\\n", "\n").encode(), words[words.index("|") + 1 :]
            ran = run(*words[1:], stdin=stdin)
            said, told = lines(ran.stdout), lines(ran.stderr)
            assert set(lines(shown)) <= {*said, *told}
            seen += bool(said)
            assert set(said) <= set(lines(shown))
    assert seen == 6


def lines(text: str) -> list[str]:
    """Its lines, without the ids of sub-agents, which are others each time."""
    return [re.sub(r"dlg_[0-9a-f]{10}", "dlg_id", line) for line in text.splitlines()]


def test_both_readmes_show_the_same_of_files_and_sub_agents() -> None:
    assert transcripts("README.md") == transcripts("README.fr.md")
    assert Path(ROOT / "docs" / "harbour-handbook.md").is_file()
