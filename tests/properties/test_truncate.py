"""Properties of shortened texts: both ends are kept, and budgets are met."""

from hypothesis import given
from hypothesis import strategies as st

from cognition.council.positions import read_position
from cognition.text.truncate import fair_limit, shorten, shorten_together

REMARK = 60
"""Maximum length of the note about omitted characters."""


@given(st.text(), st.integers(0, 50))
def test_a_shortened_text_keeps_both_ends_and_reports_the_omission(text: str, limit: int) -> None:
    short = shorten(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        assert f"{len(text) - limit:,} of {len(text):,} characters left out" in short
        assert len(short) <= limit + REMARK


@given(st.lists(st.text(max_size=200), max_size=8), st.integers(0, 1000))
def test_texts_fit_their_budget_and_short_ones_are_kept_whole(texts: list[str], budget: int) -> None:
    limit = fair_limit(list(map(len, texts)), budget)
    kept = [min(len(text), limit) for text in texts]
    assert sum(kept) <= max(budget, 0)
    if sum(map(len, texts)) <= budget:
        assert shorten_together(texts, budget) == texts
    elif texts:
        assert sum(kept) + len(texts) > budget, "less than one character per text is left over"
    assert all(len(text) <= limit for text in texts if len(text) <= budget // max(len(texts), 1))


@given(st.text())
def test_any_contribution_can_be_parsed(text: str) -> None:
    text_part, position = read_position(text)
    assert text_part in text
    assert position.confidence is None or 0 <= position.confidence <= 100
