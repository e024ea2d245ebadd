"""The documents, checked against the code."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.fr.md")


@pytest.fixture(scope="module")
def pictures() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / ".ci" / "pictures.py"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", READMES)
def test_the_drawn_parts_are_those_of_the_code(name: str, pictures: dict[str, Any]) -> None:
    assert pictures["drawn"](text(name), pictures["pictures"](name)) == text(name), "run `make pictures`"


def test_every_setting_is_described_in_french(pictures: dict[str, Any]) -> None:
    english, french = (pictures["descriptions"](name) for name in READMES)
    assert list(french) == list(english), "say it in .ci/settings.fr.toml, in the order of the settings"
    for name, told in french.items():
        assert told != english[name]
        named = [set(re.findall("`[^`]+`", text)) for text in (english[name], told)]
        assert named[0] - {"`provider:model`"} == named[1] - {"`fournisseur:modèle`"}, name


def test_both_readmes_show_the_same() -> None:
    english, french = (text(name) for name in READMES)
    for pattern in (r"^#+ ", r"^\|", r"```\w*\n.*?```"):
        flags = re.MULTILINE | re.DOTALL if "`" in pattern else re.MULTILINE
        assert len(re.findall(pattern, english, flags)) == len(re.findall(pattern, french, flags))


def test_the_commands_that_the_readme_names_are_there() -> None:
    helped = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in set(re.findall(r"^make (\w+)", text("README.md") + text("CONTRIBUTING.md"), re.MULTILINE)):
        assert f"make {target}" in helped
    listed = subprocess.run(
        [sys.executable, "-c", "from apps.cli.main import app; app()", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for command in set(re.findall(r"`cognition (\w+)", text("README.md"))):
        assert command in listed


def test_the_python_of_the_readme_runs_without_a_key(tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", text("README.md"), re.DOTALL)
    environment = {"PATH": "/usr/bin:/bin", "COGNITION_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", code[0]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "8:02" in ran.stdout
    assert ran.stdout.startswith("[rehearsal]")


def test_every_figure_of_the_benches_is_one_that_a_script_wrote() -> None:
    drawn = runpy.run_path(str(ROOT / "bench" / "readme.py"))
    assert drawn["render"]() == text("bench/README.md"), "run `python -m bench.readme`"


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = set(re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|json|toml|md))`", text("ARCHITECTURE.md")))
    places = ("", "cognition", "cognition/ingestion", "cognition/memory/session")
    missing = [path for path in named if not any((ROOT / place / path).exists() for place in places)]
    assert missing == []
