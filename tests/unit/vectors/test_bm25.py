"""Tests of query terms: stemmed in every stored language, without stop words."""

from unicodedata import normalize

import pytest

from cognition.vectors.bm25 import document_terms, query_terms


def shared(question: str, own: str, text: str, language: str, stored: tuple[str, ...]) -> set[int]:
    terms = query_terms(question, own, stored)
    return {*terms.indices} & {*document_terms(text, language).indices}


def test_a_query_matches_texts_in_any_stored_language() -> None:
    french = "Le backend de la maison est déployé à Lyon."
    assert shared("backend deployment in Lyon", "en", french, "fr", ("en", "fr"))
    assert not shared("backend deployment", "en", "Der Server steht im Keller.", "de", ("de", "en"))


@pytest.mark.parametrize("stored_as", ["en", "de", "zh"])
def test_stop_words_do_not_match_a_text_stored_under_the_wrong_language(stored_as: str) -> None:
    question = "Quelles sont les règles de la maison ?"
    stored = ("fr", stored_as)
    assert not shared(question, "fr", "Voici les statuts de la ville.", stored_as, stored)
    assert shared(question, "fr", "Voici la maison de la ville.", stored_as, stored)


def test_p52_composed_and_decomposed_accents_are_the_same_word() -> None:
    for own, text in (("fr", "Résumé à clé"), ("de", "Müller über Öl")):
        composed, decomposed = normalize("NFC", text), normalize("NFD", text)
        assert query_terms(decomposed, own) == query_terms(composed, own)
        assert document_terms(decomposed, own) == document_terms(composed, own)
