"""Transcriptions split by page, and labels for pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cognition.ingestion.scanned_pages import split_by_page
from cognition.ingestion.text_extraction import MAX_SPANS, page_label

PAGES = (2, 4, 5)


@pytest.mark.parametrize(
    ("transcription", "texts"),
    [
        ("## Page 1\nA\n## Page 2\nB\n## Page 3\nC", {2: "A", 4: "B", 5: "C"}),
        ("Here they are.\n\n# Page 1:\n\nA", {2: "Here they are.\n\nA"}),
        ("## Page 1\n\n## Page 3\n\nC", {2: "", 5: "C"}),
        ("## Page 2\nSee page 3.\n### Pages\nB", {4: "See page 3.\n### Pages\nB"}),
    ],
)
def test_each_page_gets_its_own_transcription(transcription: str, texts: dict[int, str]) -> None:
    expected = {page: f"## Page {page}\n\n{text}\n\n" for page, text in texts.items()}
    assert split_by_page(transcription, PAGES) == expected


@pytest.mark.parametrize(
    "transcription",
    ["A", "## Page 3\nA\n## Page 1\nB", "## Page 0\nA", "## Page 1\nA\n## Page 1\nB", "## Page 4\nA"],
)
def test_a_transcription_that_does_not_identify_its_pages_is_kept_whole(transcription: str) -> None:
    expected = {2: f"## Pages 2, 4-5\n\n{transcription}\n\n", 4: "", 5: ""}
    assert split_by_page(transcription, PAGES) == expected


@given(
    some.lists(some.text() | some.sampled_from(["## Page 1", "## Page 2", "# Page 9"])),
    some.sets(some.integers(1, 999), min_size=1),
)
def test_no_word_of_a_model_is_lost(lines: list[str], numbers: set[int]) -> None:
    pages = sorted(numbers)
    texts = split_by_page("\n".join(lines), pages)
    assert texts.keys() <= numbers
    kept = "".join(texts.values())
    for line in lines:
        assert "Page" in line or line.strip() in kept


@pytest.mark.parametrize(
    ("pages", "name"),
    [
        ([3], "Page 3"),
        ([3, 4], "Pages 3-4"),
        ([1, 2, 3, 7, 9, 10], "Pages 1-3, 7, 9-10"),
        (list(range(1, 99, 2)), f"Pages {', '.join(map(str, range(1, 2 * MAX_SPANS, 2)))}, …"),
    ],
)
def test_pages_are_named_by_their_spans(pages: list[int], name: str) -> None:
    assert page_label(pages) == name
