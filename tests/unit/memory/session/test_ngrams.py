"""Tests of the character n-gram scores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cognition.memory.session.ngrams import ngram_scores
from cognition.services import Services

OFFICES = ("Brandenburg", "Magdeburg", "Heidelberg", "Oldenburg", "Regensburg")
TEXTS = [f"The office in {office} moves to new rooms in spring." for office in OFFICES]


async def test_a_search_with_typos_finds_the_right_source(services: Services) -> None:
    session = await services.session()
    for office, text in zip(OFFICES, TEXTS, strict=True):
        await session.save("ada", "c", office, text)
    for office in OFFICES:
        damaged = office[:5] + office[6:]
        result = await session.search("ada", "c", f"when does the {damaged} office move")
        assert result.passages[0].first.source_id == office, damaged


def test_a_query_with_typos_scores_the_right_text_best() -> None:
    for place, office in enumerate(OFFICES):
        damaged = office[:5] + office[6:]
        assert np.argmax(ngram_scores(f"when does the {damaged} office move", TEXTS)) == place


def test_part_of_a_compound_matches_the_compound() -> None:
    texts = ["Der Kraftfahrzeugschein liegt bei.", "Der Mietvertrag liegt bei.", "Die Rechnung liegt bei."]
    assert np.argmax(ngram_scores("Wo ist der Fahrzeugschein?", texts)) == 0


def test_case_accents_and_punctuation_are_ignored() -> None:
    texts = ["L'élève a été reçu.", "Le maître a été reçu."]
    assert np.array_equal(ngram_scores("L'ÉLÈVE", texts), ngram_scores("l eleve", texts))


def test_scripts_without_spaces_are_supported() -> None:
    texts = ["会議は来週の月曜日に京都で開かれます。", "請求書は来月の初めに送られます。"]
    assert np.argmax(ngram_scores("請求書はいつ", texts)) == 1


@given(st.text(max_size=60), st.lists(st.text(max_size=200), max_size=6))
def test_all_scores_are_between_0_and_1(question: str, texts: list[str]) -> None:
    values = ngram_scores(question, texts)
    assert values.shape == (len(texts),)
    assert ((values >= 0) & (values <= 1)).all()
    assert not values.size or values.max() in (0, 1)


@given(st.lists(st.text(alphabet="abcd ", min_size=8, max_size=60), min_size=2, max_size=6))
def test_a_text_scores_best_for_itself(texts: list[str]) -> None:
    values = ngram_scores(texts[0], [texts[0], *(["zzzz"] * len(texts))])
    assert values[0] == values.max()
