"""Update the generated parts of the READMEs: the diagrams of the graphs and the table of settings.

Run: make pictures
"""

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pydantic import AliasChoices  # noqa: E402

from cognition.settings import Settings  # noqa: E402
from graphs.council import graph as council  # noqa: E402
from graphs.echo import graph  # noqa: E402
from graphs.ingestion import graph as ingestion  # noqa: E402

ENGLISH, FRENCH = "README.md", "README.fr.md"
HEADS = {
    ENGLISH: "| variable | default | description |",
    FRENCH: "| variable | défaut | description |",
}


def pictures(document: str) -> dict[str, str]:
    """Return the generated parts of a document, by the name of their markers."""
    exported = {"council": council, "echo": graph, "ingestion": ingestion}
    graphs = {f"graph:{name}": f"```mermaid\n{mermaid(compiled)}\n```" for name, compiled in exported.items()}
    return {**graphs, "settings": settings_table(document)}


def mermaid(compiled: Any) -> str:
    """Return the diagram of a graph, including its subgraphs."""
    return str(compiled.get_graph(xray=True).draw_mermaid(with_styles=False)).strip()


def settings_table(document: str) -> str:
    """Return a table of the settings with defaults and descriptions, in the document's language."""
    texts = descriptions(document)
    rows = [HEADS[document], "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias or f"COGNITION_{name.upper()}"
        names = alias.choices if isinstance(alias, AliasChoices) else [alias]
        variables = ", ".join(f"`{name}`" for name in names)
        default = "" if field.default is None else str(field.default)
        rows.append(f"| {variables} | {f'`{default}`' if default else '–'} | {texts[name]} |")
    return "\n".join(rows)


def descriptions(document: str) -> dict[str, Any]:
    """Return the description of each setting by its field name.

    English descriptions come from the code, French ones from a file next to this script.
    """
    if document == FRENCH:
        return tomllib.loads(Path(__file__).with_name("settings.fr.toml").read_text(encoding="utf-8"))
    return {name: field.description for name, field in Settings.model_fields.items()}


def drawn(text: str, parts: Mapping[str, str]) -> str:
    """Return a document with its marked parts replaced."""
    for name, part in parts.items():
        mark = re.escape(name)
        pattern = rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)"
        text = re.sub(pattern, lambda match: f"{match[1]}{part}\n{match[2]}", text, flags=re.DOTALL)  # noqa: B023
    return text


if __name__ == "__main__":
    for name in HEADS:
        path = ROOT / name
        path.write_text(drawn(path.read_text(encoding="utf-8"), pictures(name)), encoding="utf-8")
