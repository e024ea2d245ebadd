"""Recall of long-term memory on 512 French questions, also with shuffled importances.

Run: python -m bench.recall   (the first run embeds 498 passages and caches them in bench/.cache)
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.report import report
from cognition.embedding import Embedder, load_embedder
from cognition.memory.long_term.memory import Memory, collection_spec
from cognition.memory.long_term.ranking import SHARPNESS, answers, relevances
from cognition.memory.long_term.store import LongTermMemory
from cognition.models.client import Models
from cognition.settings import Settings
from cognition.text.language import detect_language
from cognition.vectors import Filter, VectorCollection, open_engine
from cognition.vectors.bm25 import query_terms

DATA = Path(__file__).parent / "data"
HOME = Path(__file__).parent / ".cache" / "recall"
USER = "bench"
SEED = 7
SHARES = (0.1, 0.2, 0.4, 0.2, 0.1)
"""Share of each importance when shuffled."""

DEPTH = 20
COLUMNS = ("run", "R@1", "R@5", "R@10", "R@20", "MRR")
Ranks = NDArray[np.float64]


def questions() -> tuple[list[str], list[str], list[int]]:
    """Return distinct passages, questions, and each question's passage index."""
    articles = json.loads((DATA / "cnil_faq.json").read_text(encoding="utf-8"))["data"]
    passages: dict[str, int] = {}
    asked: list[str] = []
    gold: list[int] = []
    for paragraph in (p for article in articles for p in article["paragraphs"]):
        number = passages.setdefault(" ".join(paragraph["context"].split()), len(passages))
        for question in paragraph["qas"]:
            asked.append(" ".join(question["question"].split()))
            gold.append(number)
    return list(passages), asked, gold


def as_memories(passages: Sequence[str], importances: Sequence[int]) -> list[Memory]:
    """Return the passages as memories of one user."""
    return [
        Memory(
            user_id=USER,
            memory_id=f"passage_{number}",
            artifact_name="CNIL",
            fact=passage,
            memory_importance=importances[number],
            created_at=0.0,
            updated_at=float(number),
            language=detect_language(passage),
        )
        for number, passage in enumerate(passages)
    ]


def figures(name: str, ranks: Ranks) -> tuple[str, ...]:
    """Return a row: recall in percent at four depths, and the mean reciprocal rank."""
    recalls = [f"{100 * np.mean(ranks <= depth):.1f}" for depth in (1, 5, 10, 20)]
    return name, *recalls, f"{np.mean(1 / ranks):.3f}"


async def searched(memory: LongTermMemory, asked: Sequence[str], gold: Sequence[int]) -> Ranks:
    """Return the rank of each question's passage in the search results; infinite if missing."""
    ranks = np.full(len(asked), np.inf)
    for number, question in enumerate(asked):
        found = await memory.search(USER, question, limit=DEPTH)
        ids = [recalled.memory.memory_id for recalled in found]
        wanted = f"passage_{gold[number]}"
        if wanted in ids:
            ranks[number] = ids.index(wanted) + 1
    return ranks


async def scored(
    collection: VectorCollection, embedder: Embedder, asked: Sequence[str], memories: Sequence[Memory]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cosine and BM25 scores of every question with every memory."""
    places = {memory.point_id: place for place, memory in enumerate(memories)}
    cosine = np.zeros((len(asked), len(memories)))
    lexical = np.zeros_like(cosine)
    languages = {memory.language for memory in memories}
    vectors = await embedder.aembed(asked, "query")
    for row, question in enumerate(asked):
        terms = query_terms(question, detect_language(question), languages)
        scores = await collection.scores(Filter(USER), vectors[row], terms)
        columns = [places[str(id_)] for id_ in scores.ids]
        cosine[row, columns] = scores.cosine
        lexical[row, columns] = scores.lexical
    return cosine, lexical


def ranks_of(scores: NDArray[np.float64], gold: Sequence[int]) -> Ranks:
    """Return the rank of each question's passage by a score matrix; infinite without a score."""
    own = scores[np.arange(len(gold)), gold]
    ranks = 1.0 + np.sum(scores > own[:, None], axis=1)
    return np.where(np.isneginf(own), np.inf, ranks)


async def main() -> None:
    """Measure and print the tables."""
    passages, asked, gold = questions()
    settings = Settings(home=HOME)
    embedder = load_embedder(settings.memory_embedding, HOME)
    engine = open_engine(HOME)
    memory = await LongTermMemory.open(engine, embedder, settings, Models(settings))
    collection = await engine.collection(collection_spec(embedder.stamp))
    even = as_memories(passages, [3] * len(passages))
    if await collection.count(Filter(USER)) != len(even):
        await memory.import_many(even)

    await set_importances(collection, even)
    cosine, lexical = await scored(collection, embedder, asked, even)
    rows = [figures("dense alone", ranks_of(cosine, gold)), figures("BM25 alone", ranks_of(lexical, gold))]
    one = await searched(memory, asked, gold)
    rows.append(figures("memory search, equal importances", one))

    shuffled = np.random.default_rng(SEED).choice(5, size=len(passages), p=SHARES) + 1
    await set_importances(collection, as_memories(passages, shuffled.tolist()))
    mixed = await searched(memory, asked, gold)
    rows.append(figures("memory search, importances shuffled", mixed))
    report("recall", f"Recall with {settings.memory_embedding}, with the relevance floor", COLUMNS, rows)

    unanswerable = json.loads((DATA / "unanswerable.json").read_text(encoding="utf-8"))
    unanswered = sum([not await memory.search(USER, question) for question in unanswerable])
    curve(embedder, settings, asked, cosine, lexical, gold, shuffled)
    drops = [f"{100 * (np.mean(one <= k) - np.mean(mixed <= k)):.1f}" for k in (5, 20)]
    weights = settings.importance_weights
    facts = [
        ("unanswerable questions that return nothing", f"{unanswered} of {len(unanswerable)}"),
        ("drop in R@5 with shuffled importances, points", drops[0]),
        ("drop in R@20 with shuffled importances, points", drops[1]),
        ("score of importance 5 at relevance 0.60", f"{0.60 * weights[4]:.3f}"),
        ("score of importance 1 at relevance 0.85", f"{0.85 * weights[0]:.3f}"),
    ]
    report("recall_facts", "Other measurements", ("measurement", "result"), facts)
    await memory.aclose()


async def set_importances(collection: VectorCollection, memories: Sequence[Memory]) -> None:
    """Set the importances of the stored memories."""
    for level in range(1, 6):
        ids = [memory.point_id for memory in memories if memory.memory_importance == level]
        if ids:
            await collection.set_payload(Filter(USER, ids=ids), {"memory_importance": level})


def curve(
    embedder: Embedder,
    settings: Settings,
    asked: Sequence[str],
    cosine: NDArray[np.float64],
    lexical: NDArray[np.float64],
    gold: Sequence[int],
    shuffled: NDArray[np.int64],
) -> None:
    """Print recall at several exponents; they keep importance from outweighing relevance."""
    similarity = embedder.calibration.similarity(cosine.astype(np.float32), "question")
    terms = [len(query_terms(question, detect_language(question)).indices) for question in asked]
    shown = np.stack([answers(*row) for row in zip(similarity, lexical, terms, strict=True)])
    relevance = np.stack([relevances(s, words) for s, words in zip(similarity, lexical, strict=True)])
    weight = np.asarray(settings.importance_weights)[shuffled - 1]
    rows = []
    for power in (1, 2, SHARPNESS, 4, 6, 8):
        sharpened = relevance ** (power / SHARPNESS)
        scores = np.where(shown, sharpened * weight, -np.inf)
        rows.append(figures(f"power {power:g}", ranks_of(scores, gold)))
    report(
        "recall_curve",
        f"Recall with shuffled importances, by sharpness (in use: {SHARPNESS:g})",
        COLUMNS,
        rows,
    )


if __name__ == "__main__":
    asyncio.run(main())
