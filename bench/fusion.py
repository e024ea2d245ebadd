"""Fusion on pairs of facts in English and French: what is joined, what stays apart, whether a text is lost.

Everything is told to one user through the real write path: first the older fact of every pair, then the newer
ones. The distillation model is played over HTTP, by what each pair says that it must answer.

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

Manner = Literal["names the known id", "names a new id, judges", "is not there"]
MANNERS: tuple[Manner, ...] = ("names the known id", "names a new id, judges", "is not there")
Fate = Literal["as meant", "side by side", "distinct joined", "text lost"]
FATES: tuple[Fate, ...] = ("as meant", "side by side", "distinct joined", "text lost")


@dataclass(frozen=True)
class Pair:
    """Two facts of which the newer is told later.

    Attributes:
        kind: What the pair is an example of.
        language: Of the older and the newer fact, one code if it is one.
        verdict: What the newer is to the older; with `distinct` both must stay, else they are about one.
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
    """The shipped pairs."""
    return [Pair(**pair) for pair in json.loads(DATA.read_text(encoding="utf-8"))]


class PlayedModel:
    """A distillation model that is right about every pair.

    Args:
        pairs: What it knows.
        manner: Whether it finds the known id for what is about one thing, gives each fact a new one so that
            close ones are judged, or answers nothing of use.
    """

    def __init__(self, pairs: Sequence[Pair], manner: Manner) -> None:
        self._manner = manner
        self._verdicts = {(pair.older, pair.newer): pair for pair in pairs}
        self._ids: dict[str, str] = {}
        for number, pair in enumerate(pairs):
            one = manner == "names the known id" and pair.verdict != "distinct"
            self._ids |= {pair.older: f"fact_{number}", pair.newer: f"fact_{number}{'' if one else '_newer'}"}

    def __call__(self, request: Request) -> Reply:
        """Answer a request to file a fact, or to judge two."""
        if self._manner == "is not there":
            return Reply(text="[rehearsal]")
        text = request.texts[-1]
        if newer := _block("newer", text):
            pair = self._verdicts.get((_block("older", text), newer))
            verdict = {"verdict": pair.verdict, "text": pair.merged} if pair else {"verdict": "distinct"}
            return Reply(text=json.dumps(verdict))
        return Reply(text=json.dumps({"memory_id": self._ids[_block("fact", text)], "origin": "user"}))


async def tell(pairs: Sequence[Pair], manner: Manner) -> list[Fate]:
    """Tell a new user all the facts, the older ones first; what became of each pair."""
    with TemporaryDirectory() as home, RehearsalServer({MODEL: PlayedModel(pairs, manner)}) as server:
        given = {"GOOGLE_API_KEY": "played", "GOOGLE_GEMINI_BASE_URL": server.url, "home": home}
        settings = Settings.model_validate({**given, "model_distillation": f"google_genai:{MODEL}"})
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
    return [fate(pair, current, older) for pair in pairs]


def fate(pair: Pair, current: set[str], older: set[str]) -> Fate:
    """What became of a pair, by the texts that memories hold now and the older ones kept with them."""
    if pair.older in current and pair.newer in current:
        return "as meant" if pair.verdict == "distinct" else "side by side"
    if pair.verdict == "same" and current & {pair.older, pair.newer}:
        return "as meant"
    if not current & {pair.newer, pair.merged} or pair.older not in older:
        return "text lost"
    return "distinct joined" if pair.verdict == "distinct" else "as meant"


def _block(name: str, text: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", text, re.DOTALL)
    return unescape(found[1]) if found else ""


async def main() -> None:
    """Measure and print."""
    pairs = load_pairs()
    kinds = [*dict.fromkeys(pair.kind for pair in pairs)]
    rows = []
    for manner in MANNERS:
        fates = await tell(pairs, manner)
        for kind in [*kinds, "all"]:
            of_kind = [f for pair, f in zip(pairs, fates, strict=True) if kind in (pair.kind, "all")]
            counts = Counter(of_kind)
            rows.append((manner, kind, len(of_kind), *(counts[fate] for fate in FATES)))
    columns = ("distillation model", "pairs of", "number", *FATES)
    report("fusion", f"Fusion of {len(pairs)} pairs with {Settings().memory_embedding}", columns, rows)


if __name__ == "__main__":
    asyncio.run(main())
