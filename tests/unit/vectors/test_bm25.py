"""The terms of questions: in every language that they may match in, and none that says nothing."""

from unicodedata import normalize

import pytest

from cognition.vectors.bm25 import document_terms, query_terms


def shared(question: str, own: str, text: str, language: str, stored: tuple[str, ...]) -> set[int]:
    asked = query_terms(question, own, stored)
    return {*asked.indices} & {*document_terms(text, language).indices}


def test_a_question_finds_its_words_in_a_text_of_any_stored_language() -> None:
    french = "Le backend de la maison est déployé à Lyon."
    assert shared("backend deployment in Lyon", "en", french, "fr", ("en", "fr"))
    assert not shared("backend deployment", "en", "Der Server steht im Keller.", "de", ("de", "en"))


@pytest.mark.parametrize("taken_for", ["en", "de", "zh"])
def test_stop_words_find_nothing_in_a_text_taken_for_another_language(taken_for: str) -> None:
    question = "Quelles sont les règles de la maison ?"
    stored = ("fr", taken_for)
    assert not shared(question, "fr", "Voici les statuts de la ville.", taken_for, stored)
    assert shared(question, "fr", "Voici la maison de la ville.", taken_for, stored)


def test_p52_composed_and_decomposed_accents_are_one_word() -> None:
    for own, text in (("fr", "Résumé à clé"), ("de", "Müller über Öl")):
        composed, decomposed = normalize("NFC", text), normalize("NFD", text)
        assert query_terms(decomposed, own) == query_terms(composed, own)
        assert document_terms(decomposed, own) == document_terms(composed, own)
