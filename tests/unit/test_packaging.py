"""What is installed from a wheel is as whole as the checkout."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from cognition.skill import Skill
from cognition.vault import Vault

ROOT = Path(__file__).parents[2]
PARTS = ("cognition", "graphs", "nodes", "tools", "skills", "pyproject.toml", "README.md", "LICENSE")
LISTED = (
    "from pathlib import Path; from cognition.vault import Vault; "
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
