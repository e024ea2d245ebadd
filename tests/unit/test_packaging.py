"""Packaging: the wheel is complete, and dependencies are declared and pinned."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from cognition.skills.skill import Skill
from cognition.skills.vault import Vault

ROOT = Path(__file__).parents[2]
PACKAGES = ("apps", "cognition", "graphs", "nodes", "tools")
PARTS = (*PACKAGES, "skills", "pyproject.toml", "README.md", "LICENSE")
LISTED = (
    "from pathlib import Path; from cognition.skills.vault import Vault; "
    "print(*(skill.skill_id for skill in Vault(Path('home'), 'ada').skills()))"
)


def python(code: str, folder: Path) -> str:
    """Return the output of a program that can import our packages only from `folder`."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def constraints() -> dict[str, str]:
    """Return the pinned versions by package."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def test_a_wheel_brings_the_experts_and_the_types_and_builds_without_a_warning(tmp_path: Path) -> None:
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
    with ZipFile(wheel) as archive:
        assert {f"{package}/py.typed" for package in PACKAGES} <= set(archive.namelist())
        archive.extractall(installed)
    listed = python(LISTED, installed).split()
    assert listed == [entry.skill_id for entry in Vault(tmp_path, "ada").skills() if isinstance(entry, Skill)]
    assert python("import cognition; print(cognition.__file__)", installed).startswith(str(installed))


def test_every_pin_takes_the_oldest_python_that_the_project_takes() -> None:
    oldest = project()["requires-python"].removeprefix(">=") + ".0"
    pins = constraints()
    pinned = [found for found in distributions() if pins.get(canonicalize_name(found.name)) == found.version]
    too_new = {
        found.name: wanted
        for found in pinned
        if (wanted := found.metadata.get("Requires-Python")) and oldest not in SpecifierSet(wanted)
    }
    assert len(pinned) > 50
    assert too_new == {}


def imported() -> set[str]:
    """Return every name that our packages import from elsewhere, as a dotted path."""
    names = set()
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] not in {*PACKAGES, *sys.stdlib_module_names}}


def modules() -> dict[str, str]:
    """Return the package that installed each module. Namespaces such as `langgraph` belong to several."""
    owners = {}
    for package in distributions():
        installed_by = canonicalize_name(package.name)
        for file in package.files or ():
            if file.suffix in (".py", ".so", ".pyd"):
                module = ".".join(file.with_name(file.name.split(".")[0]).parts).removesuffix(".__init__")
                owners[module] = installed_by
    return owners


def owner(name: str, owners: dict[str, str]) -> str:
    """Return the package that a name comes from; one that is not installed is named as its module is."""
    parts = name.split(".")
    paths = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((owners[path] for path in paths if path in owners), canonicalize_name(parts[0]))


def test_every_direct_import_is_declared() -> None:
    declared = {
        extra: {canonicalize_name(Requirement(line).name): Requirement(line).specifier for line in lines}
        for extra, lines in {"": project()["dependencies"], **project()["optional-dependencies"]}.items()
    }
    owners = modules()
    used = {owner(name, owners) for name in imported()}
    assert len(used) > 30
    only_in_extras = used - set(declared[""])
    assert only_in_extras == {"sentence-transformers"}, "declare it in pyproject.toml, and say what it is for"
    assert only_in_extras <= set(declared["bge"])
    unbounded = [
        package
        for package, specifier in {**declared["bge"], **declared[""]}.items()
        if not any(each.operator == ">=" for each in specifier)
    ]
    assert unbounded == []
    assert used - set(constraints()) == set()


def hooks() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the version and the settings of every pre-commit hook by its id."""
    config = YAML(typ="safe").load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    return {
        hook["id"]: (repo.get("rev", "").removeprefix("v"), hook)
        for repo in config["repos"]
        for hook in repo["hooks"]
    }


@pytest.mark.parametrize(
    ("hook", "package"), [("ruff-check", "ruff"), ("ruff-format", "ruff"), ("codespell", "codespell")]
)
def test_pre_commit_runs_the_versions_that_are_pinned(hook: str, package: str) -> None:
    version, _ = hooks()[hook]
    assert version == constraints()[package], "change it in .pre-commit-config.yaml too"


def test_pre_commit_checks_the_spelling_of_the_files_that_make_lint_checks() -> None:
    _, codespell = hooks()["codespell"]
    listed = re.search(r"^ENGLISH := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert listed
    english = listed[1].replace("\\\n", " ").split()
    for path in (ROOT / name for name in english):
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        names = [file.relative_to(ROOT).as_posix() for file in files]
        assert [name for name in names if not re.search(codespell["files"], name)] == []
    others = [path.name for path in ROOT.iterdir() if path.name not in english]
    assert [name for name in others if re.search(codespell["files"], name)] == []


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
