"""The private names of other packages that we use: a release that drops one fails here first, by name."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRIVATE = {
    "langchain_google_genai._function_utils": [
        "convert_to_genai_function_declarations"
    ],  # tools as Gemini takes them
    "langgraph._internal._runnable": ["RunnableCallable"],  # a node with both a sync and an async face
    "langgraph.checkpoint.serde.types": ["_DeltaSnapshot"],  # a snapshot of a delta channel, when pruning
    "langgraph.pregel._read": ["ChannelRead"],  # a branch that was sent reads the state
    "threading": ["_register_atexit"],  # runs before the executors end, unlike `atexit`
}


@pytest.mark.parametrize("module", PRIVATE)
def test_canary_the_private_names_are_still_there(module: str) -> None:
    assert [name for name in PRIVATE[module] if not hasattr(import_module(module), name)] == []


def test_no_other_private_name_is_used() -> None:
    used = set()
    for package in ("apps", "graphs", "nodes", "tools", "cognition"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and not str(node.module).startswith(
                    ("cognition", "apps")
                ):
                    names = [f"{node.module}.{alias.name}" for alias in node.names]
                    used |= {name for name in names if "._" in name and not name.startswith("__future__")}
                elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "threading":
                    used |= {f"threading.{node.attr}"} if node.attr.startswith("_") else set()
    assert used == {f"{module}.{name}" for module, names in PRIVATE.items() for name in names}
