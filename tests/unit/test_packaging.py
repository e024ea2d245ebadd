"""What is installed from a wheel is as whole as the checkout."""

import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.specifiers import SpecifierSet

from cognition.skills.skill import Skill
from cognition.skills.vault import Vault

ROOT = Path(__file__).parents[2]
PARTS = ("apps", "cognition", "graphs", "nodes", "tools", "skills", "pyproject.toml", "README.md", "LICENSE")
LISTED = (
    "from pathlib import Path; from cognition.skills.vault import Vault; "
    "print(*(skill.skill_id for skill in Vault(Path('home'), 'ada').skills()))"
)


def python(code: str, folder: Path) -> str:
    """What a program says that finds our packages in a folder and nowhere else."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def test_a_wheel_brings_the_shipped_experts_and_builds_without_a_warning(tmp_path: Path) -> None:
    checkout, installed = tmp_path / "checkout", tmp_path / "installed"
    checkout.mkdir()
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, checkout / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, checkout)
    told = python("from setuptools.build_meta import build_wheel; build_wheel('..')", checkout)
    assert "SKILL.md" in told
    assert "Warning" not in told
    (wheel,) = tmp_path.glob("*.whl")
    ZipFile(wheel).extractall(installed)
    listed = python(LISTED, installed).split()
    assert listed == [entry.skill_id for entry in Vault(tmp_path, "ada").skills() if isinstance(entry, Skill)]
    assert python("import cognition; print(cognition.__file__)", installed).startswith(str(installed))


def test_every_pin_takes_the_oldest_python_that_the_project_takes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    pins = set((ROOT / "constraints.txt").read_text().splitlines())
    pinned = [found for found in distributions() if f"{found.name}=={found.version}" in pins]
    too_new = {
        found.name: wanted
        for found in pinned
        if (wanted := found.metadata["Requires-Python"]) and oldest not in SpecifierSet(wanted)
    }
    assert len(pinned) > 50
    assert too_new == {}


PYTHON = r"""#!/bin/sh
mkdir -p .venv/bin
printf '#!/bin/sh\necho "$@" >> calls; case "$*" in *install*) exit '"$PIP"';; esac' > .venv/bin/python
chmod +x .venv/bin/python
echo "$@" >> made
"""
"""A Python that can make environments, in which installing ends with $PIP."""


@pytest.mark.parametrize("left", ["nothing", "a half", "one of a Python that is gone"])
def test_an_environment_that_can_t_be_used_is_made_anew(tmp_path: Path, left: str) -> None:
    def make(pip: int) -> subprocess.CompletedProcess[str]:
        command = ["make", ".venv/chat", f"PYTHON={tmp_path / 'python'}"]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "PIP": str(pip)},
            capture_output=True,
            text=True,
        )

    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    if left != "nothing":
        (tmp_path / ".venv" / "bin").mkdir(parents=True)
    if left == "one of a Python that is gone":
        (tmp_path / ".venv" / "bin" / "python").symlink_to("/nowhere/python3")
        (tmp_path / "python").write_text(PYTHON.replace("mkdir", "rm -r .venv\nmkdir", 1))
    failed = make(pip=1)
    assert failed.returncode
    assert "Not installed: the same command tries again" in failed.stderr
    assert not (tmp_path / ".venv" / "chat").exists()
    (tmp_path / ".venv" / "bin" / "python").write_text("#!/bin/sh\n")
    assert make(pip=0).returncode == 0
    assert (tmp_path / "made").read_text() == "-m venv --clear .venv\n"
    assert (tmp_path / ".venv" / "chat").exists()
