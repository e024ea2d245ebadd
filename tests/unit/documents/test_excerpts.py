"""Selection of the excerpts of a document."""

from pathlib import Path

import numpy as np
import pytest

from cognition.documents.excerpts import QUERY, ExcerptCandidate, sample_indexes, select_excerpts
from cognition.embedding import load_embedder

THEMES = {
    "Tea": "Green tea is brewed at eighty degrees for two minutes, black tea in boiling water for four.",
    "Bridges": "The old bridge over the river was closed in March because its northern pier had moved.",
    "Wages": "Wages rose by three percent, and the works council signed the agreement in the autumn.",
    "Birds": "Swifts come back in May, nest under the roofs and leave for Africa at the end of July.",
}


def document(repeated: int, *, headings: bool) -> list[ExcerptCandidate]:
    passages = [
        ((theme,) if headings else (), f"{text} This is note {number}.")
        for theme, text in THEMES.items()
        for number in range(repeated)
    ]
    ends = [
        ((), "Annual report of the parish: how the year began, on which this report looks back from afar."),
        *passages,
        (
            (),
            "Conclusion: this report summed up the year, and its main result is a surplus.",
        ),
    ]
    return [ExcerptCandidate(index, text, titles) for index, (titles, text) in enumerate(ends)]


def selected(candidates: list[ExcerptCandidate], keep: int) -> list[ExcerptCandidate]:
    embedder = load_embedder("use-multilingual", Path())
    vectors = embedder.embed([candidate.text for candidate in candidates], "passage")
    return select_excerpts(candidates, vectors, embedder.embed([QUERY], "query")[0], keep)


@pytest.mark.parametrize("headings", [True, False], ids=["headings", "plain"])
def test_excerpts_cover_the_ends_and_every_theme_in_reading_order(headings: bool) -> None:
    candidates = document(12, headings=headings)
    excerpts = selected(candidates, 8)
    assert len(excerpts) == 8
    assert [e.index for e in excerpts] == sorted({e.index for e in excerpts})
    assert excerpts[0] == candidates[0]
    assert excerpts[-1] == candidates[-1]
    for text in THEMES.values():
        assert any(excerpt.text.startswith(text) for excerpt in excerpts)


def test_what_answers_the_strategic_question_is_taken() -> None:
    candidates = document(12, headings=False)
    relevant = ExcerptCandidate(
        20, "The main points and conclusions of this document: its purpose is to recommend a new pier.", ()
    )
    candidates[20] = relevant
    assert relevant in selected(candidates, 10)


def test_a_small_document_is_its_own_excerpts() -> None:
    candidates = document(1, headings=True)
    assert selected(candidates, 10) == candidates


def test_blank_and_tiny_chunks_stand_for_nothing() -> None:
    candidates = document(12, headings=False)
    for index in range(2, 40, 3):
        candidates[index] = ExcerptCandidate(index, " \n---\n ", ())
    assert all(len(excerpt.text) > 20 for excerpt in selected(candidates, 10))
    blank = [ExcerptCandidate(number, " ", ()) for number in range(30)]
    assert [e.index for e in selected(blank, 10)] == [0, 29]


@pytest.mark.parametrize("keep", [-1, 0, 1, 51])
def test_a_number_out_of_range_is_refused(keep: int) -> None:
    with pytest.raises(ValueError, match=f"number of excerpts {keep}:"):
        select_excerpts(
            document(3, headings=True), np.eye(14, dtype=np.float32), np.ones(14, np.float32), keep
        )


@pytest.mark.parametrize("count", [0, 1, 2, 7, 200, 201, 250_000])
def test_the_cost_of_choosing_does_not_grow_with_the_document(count: int) -> None:
    indexes = sample_indexes(count)
    assert len(indexes) == min(count, 200)
    assert indexes == sorted(set(indexes))
    if count:
        assert (indexes[0], indexes[-1]) == (0, count - 1)
