"""Draw into the READMEs what is derived from the code: the graphs and the settings.

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

from pydantic import AliasChoices

from cognition.settings import Settings  # noqa: E402
from graphs.council import graph as council  # noqa: E402
from graphs.echo import graph  # noqa: E402
from graphs.ingestion import graph as ingestion  # noqa: E402

ENGLISH, FRENCH = "README.md", "README.fr.md"
HEADS = {
    ENGLISH: "| variable | default | what it is for |",
    FRENCH: "| variable | défaut | à quoi elle sert |",
}


def pictures(document: str) -> dict[str, str]:
    """The derived parts of a document by the name of their markers."""
    drawn = {"council": council, "echo": graph, "ingestion": ingestion}
    graphs = {f"graph:{name}": f"```mermaid\n{mermaid(compiled)}\n```" for name, compiled in drawn.items()}
    return {**graphs, "settings": settings_table(document)}


def mermaid(compiled: Any) -> str:
    """A graph's picture, with the graphs inside it."""
    return str(compiled.get_graph(xray=True).draw_mermaid(with_styles=False)).strip()


def settings_table(document: str) -> str:
    """Every setting with its default and what it is for, in the document's language."""
    told = descriptions(document)
    rows = [HEADS[document], "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias or f"COGNITION_{name.upper()}"
        names = alias.choices if isinstance(alias, AliasChoices) else [alias]
        variables = ", ".join(f"`{name}`" for name in names)
        default = "" if field.default is None else str(field.default)
        rows.append(f"| {variables} | {f'`{default}`' if default else '–'} | {told[name]} |")
    return "\n".join(rows)


def descriptions(document: str) -> dict[str, Any]:
    """What each setting is for, by its field: in English from the code, in French from a file beside this."""
    if document == FRENCH:
        return tomllib.loads(Path(__file__).with_name("settings.fr.toml").read_text(encoding="utf-8"))
    return {name: field.description for name, field in Settings.model_fields.items()}


def drawn(text: str, parts: Mapping[str, str]) -> str:
    """A document with each marked part drawn anew."""
    for name, part in parts.items():
        mark = re.escape(name)
        pattern = rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)"
        text = re.sub(pattern, lambda found: f"{found[1]}{part}\n{found[2]}", text, flags=re.DOTALL)  # noqa: B023
    return text


if __name__ == "__main__":
    for name in HEADS:
        path = ROOT / name
        path.write_text(drawn(path.read_text(encoding="utf-8"), pictures(name)), encoding="utf-8")
