"""Fusion of pairs of facts in English and French: pairs merged, pairs kept apart, texts lost.

All facts of one user pass through the real write path: first the older fact of every pair, then the newer
ones. A scripted distillation model answers over HTTP with the verdict of each pair.

Run: python -m bench.fusion
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from bench.report import report
from cognition.embedding import load_embedder
from cognition.memory.long_term.labels import USER_PROFILE
from cognition.memory.long_term.store import LongTermMemory
from cognition.models.client import Models
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.settings import Settings
from cognition.vectors import open_engine

DATA = Path(__file__).parent / "data" / "fusion_pairs.json"
USER = "bench"
MODEL = "gemini-2.5-flash-lite"

Manner = Literal["returns the known id", "returns a new id, judges", "unavailable"]
MANNERS: tuple[Manner, ...] = ("returns the known id", "returns a new id, judges", "unavailable")
Outcome = Literal["as expected", "side by side", "distinct merged", "text lost"]
OUTCOMES: tuple[Outcome, ...] = ("as expected", "side by side", "distinct merged", "text lost")


@dataclass(frozen=True)
class Pair:
    """Two facts, the newer one stated later.

    Attributes:
        kind: The kind of case.
        language: The languages of the older and the newer fact; one code if they are the same.
        verdict: The relation of the newer fact to the older; with `distinct` both must stay.
        older: The first fact.
        newer: The second fact.
        merged: Both in one, for the verdict `merge`.
    """

    kind: str
    language: str
    verdict: Literal["same", "merge", "update", "distinct"]
    older: str
    newer: str
    merged: str = ""


def load_pairs() -> list[Pair]:
    """Return the included pairs."""
    return [Pair(**pair) for pair in json.loads(DATA.read_text(encoding="utf-8"))]


class ScriptedModel:
    """A distillation model that is right about every pair.

    Args:
        pairs: The pairs.
        manner: The model's behaviour: return the known id for related facts, return a new id so that close
            facts are judged, or return nothing usable.
    """

    def __init__(self, pairs: Sequence[Pair], manner: Manner) -> None:
        self._manner = manner
        self._verdicts = {(pair.older, pair.newer): pair for pair in pairs}
        self._ids: dict[str, str] = {}
        for number, pair in enumerate(pairs):
            one = manner == "returns the known id" and pair.verdict != "distinct"
            self._ids |= {pair.older: f"fact_{number}", pair.newer: f"fact_{number}{'' if one else '_newer'}"}

    def __call__(self, request: Request) -> Reply:
        """Answer a request to classify a fact or to compare two."""
        if self._manner == "unavailable":
            return Reply(text="[rehearsal]")
        text = request.texts[-1]
        if newer := _block("newer", text):
            pair = self._verdicts.get((_block("older", text), newer))
            verdict = {"verdict": pair.verdict, "text": pair.merged} if pair else {"verdict": "distinct"}
            return Reply(text=json.dumps(verdict))
        return Reply(text=json.dumps({"memory_id": self._ids[_block("fact", text)], "origin": "user"}))


async def write_facts(pairs: Sequence[Pair], manner: Manner) -> list[Outcome]:
    """Write all facts of a new user, older ones first, and return the outcome of each pair."""
    with TemporaryDirectory() as home, RehearsalServer({MODEL: ScriptedModel(pairs, manner)}) as server:
        values = {"GOOGLE_API_KEY": "played", "GOOGLE_GEMINI_BASE_URL": server.url, "home": home}
        settings = Settings.model_validate({**values, "model_distillation": f"google_genai:{MODEL}"})
        models = Models(settings)
        embedder = load_embedder(settings.memory_embedding, settings.home)
        memory = await LongTermMemory.open(open_engine(settings.home), embedder, settings, models)
        for fact in [*(pair.older for pair in pairs), *(pair.newer for pair in pairs)]:
            await memory.write(USER, "chat", USER_PROFILE, fact, 3)
        stored = (await memory.index(USER, limit=10 * len(pairs))).memories
        await memory.aclose()
        await models.aclose()
    current = {one.fact for one in stored}
    older = {text["fact"] for one in stored for text in one.superseded}
    return [outcome_of(pair, current, older) for pair in pairs]


def outcome_of(pair: Pair, current: set[str], older: set[str]) -> Outcome:
    """Return the outcome of a pair, from the current texts and the older texts kept with them."""
    if pair.older in current and pair.newer in current:
        return "as expected" if pair.verdict == "distinct" else "side by side"
    if pair.verdict == "same" and current & {pair.older, pair.newer}:
        return "as expected"
    if not current & {pair.newer, pair.merged} or pair.older not in older:
        return "text lost"
    return "distinct merged" if pair.verdict == "distinct" else "as expected"


def _block(name: str, text: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", text, re.DOTALL)
    return unescape(found[1]) if found else ""


async def main() -> None:
    """Measure and print the tables."""
    pairs = load_pairs()
    kinds = [*dict.fromkeys(pair.kind for pair in pairs)]
    rows = []
    for manner in MANNERS:
        outcomes = await write_facts(pairs, manner)
        for kind in [*kinds, "all"]:
            of_kind = [f for pair, f in zip(pairs, outcomes, strict=True) if kind in (pair.kind, "all")]
            counts = Counter(of_kind)
            rows.append((manner, kind, len(of_kind), *(counts[outcome] for outcome in OUTCOMES)))
    columns = ("distillation model", "kind of pair", "number", *OUTCOMES)
    report("fusion", f"Fusion of {len(pairs)} pairs with {Settings().memory_embedding}", columns, rows)


if __name__ == "__main__":
    asyncio.run(main())
