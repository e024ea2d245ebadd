"""Tests of recall: a search ranks all memories, and returns nothing if none answers."""

from cognition.context import BoundContext
from cognition.memory.long_term.store import LongTermMemory
from tests.unit.memory.conftest import stored

ROOMS = ["kitchen", "garden", "office", "train", "library", "bath", "attic", "cellar", "car", "hall"]
QUESTION = "Where do I drink green tea?"


async def test_a_limited_search_ranks_like_a_full_one_and_loses_no_axiom(
    memory: LongTermMemory, context: BoundContext
) -> None:
    weights = context.bound.settings.importance_weights
    teas = [f"I drink green tea in the {room}{extra}." for room in ROOMS for extra in ("", " on Sundays")]
    trivia = [stored(tea, memory_importance=1) for tea in teas]
    axiom = stored("My sister drinks green tea in the tent.", memory_id="axiom", memory_importance=5)
    await memory.import_many([*trivia, axiom, *(stored(f"My {room} is painted white.") for room in ROOMS)])
    everything = await memory.search("ada", QUESTION, limit=1_000)
    relevance = {f.memory.memory_id: f.score / weights[f.memory.memory_importance - 1] for f in everything}
    limit = 3
    assert sorted(relevance, key=lambda id_: -relevance[id_]).index("axiom") >= 3 * limit
    found = await memory.search("ada", QUESTION, limit=limit)
    assert "axiom" in [f.memory.memory_id for f in found]
    for size in (1, limit, 20, len(everything)):
        assert await memory.search("ada", QUESTION, limit=size) == everything[:size]
    scores = [f.score for f in everything]
    assert scores == sorted(scores, reverse=True)


async def test_p45_importance_does_not_outweigh_similarity(memory: LongTermMemory) -> None:
    await memory.import_many(
        [
            stored("I drink green tea in the garden.", memory_id="tea", memory_importance=1),
            *(stored(f"My {room} is painted white.", memory_importance=5) for room in ROOMS),
        ]
    )
    assert (await memory.search("ada", QUESTION))[0].memory.memory_id == "tea"


async def test_p49_a_question_without_an_answer_returns_nothing(memory: LongTermMemory) -> None:
    assert await memory.search("ada", "What is the capital of Mongolia?") == []
    await memory.import_many([stored(f"My {room} is painted white.") for room in ROOMS])
    assert await memory.search("ada", "Comment fonctionne un moteur diesel à injection ?") == []


async def test_the_prompt_gets_ten_axioms_newest_first_and_five_matches(memory: LongTermMemory) -> None:
    axioms = [
        stored(f"Axiom {n}.", memory_id=f"axiom_{n}", memory_importance=5, updated_at=1.7e9 + n)
        for n in range(12)
    ]
    teas = [stored(f"I drink green tea in the {room}.") for room in ROOMS]
    await memory.import_many([*axioms, *teas])
    ids = await memory.recall("ada", QUESTION)
    assert ids[:10] == [f"axiom_{n}" for n in range(11, 1, -1)]
    assert len(ids) == 15
    assert all(id_.startswith("i_drink_green_tea") for id_ in ids[10:])
