"""Tests of the identity of memories, texts and artifact names."""

from uuid import NAMESPACE_DNS, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognition.memory.long_term.memory import (
    LESSONS,
    USER_PROFILE,
    Memory,
    derived_id,
    normalized,
    point_id,
    snake_case,
    tidy_name,
)
from cognition.memory.long_term.store import LongTermMemory
from cognition.text.sanitize import clean
from tests.unit.memory.conftest import facts_of, stored

USERS = st.text(st.sampled_from("ab_"), min_size=1).filter(str.strip)
IDS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1).map("_".join)


def test_the_point_id_of_a_memory_is_as_documented() -> None:
    assert point_id("ada", "home_city") == str(uuid5(NAMESPACE_DNS, "ada_home_city"))


@given(st.tuples(USERS, IDS), st.tuples(USERS, IDS))
def test_p47_two_users_never_share_a_point(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (point_id(*one) == point_id(*other)) == (one == other)


@given(st.text())
def test_ids_are_stable_under_normalization(text: str) -> None:
    for memory_id in (snake_case(text), derived_id(clean(text))):
        assert snake_case(memory_id) == memory_id
        assert len(memory_id) <= 64


@given(st.text())
def test_the_same_fact_always_gets_the_same_id(text: str) -> None:
    assert derived_id(text) == derived_id(f"  {text}\n")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I live in Paris.", " i LIVE\nin\u00a0paris. ", True),
        ("Hélène", "He\u0301le\u0300ne", True),
        ("Straße", "STRASSE", True),
        ("A population of 10² birds", "A population of 102 birds", False),
        ("I live in Paris.", "I live in Paris!", False),
    ],
)
def test_normalization_ignores_case_spaces_and_unicode_form(one: str, other: str, same: bool) -> None:
    assert (normalized(one) == normalized(other)) is same


def test_artifact_names_are_normalized() -> None:
    assert tidy_name(" profil  d’ALIGNEMENT ") == USER_PROFILE
    assert tidy_name("hypothe\u0300ses d'apprentissage") == LESSONS
    assert tidy_name(" Voyages\u00a0 d’été\n") == "Voyages d'été"


def test_a_memory_round_trips_through_its_payload() -> None:
    older = [
        {"fact": "I live in Paris.", "language": "en", "origin": "user", "memory_importance": 5, "at": 1.0}
    ]
    memory = stored("I live in Lyon.", tags=["home"], superseded=older, last_recalled_at=2.0, recall_count=3)
    assert Memory.from_payload(memory.payload()) == memory
    assert memory.updated_on == "2023-11-14"


@pytest.mark.parametrize("memory_id", ["", "_b_c", "Home", "a__b", "a b", "é", "x" * 65])
async def test_p47_an_import_rejects_ids_that_could_be_another_users_point(
    memory: LongTermMemory, memory_id: str
) -> None:
    good = stored("I live in Lyon.", memory_id="home")
    with pytest.raises(ValueError, match="expected snake case, such as home_city"):
        await memory.import_many([good, stored("I live in Paris.", memory_id=memory_id)])
    assert await facts_of(memory) == []


async def test_an_import_records_the_embedding_model(memory: LongTermMemory) -> None:
    await memory.import_many([stored("I live in Lyon.", memory_id="home", embedding_model="another")])
    (home,) = await memory.fetch("ada", ["home"])
    assert "e5" in home.embedding_model
