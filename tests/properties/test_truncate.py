from hypothesis import given
from hypothesis import strategies as st

from cognition.council.positions import read_position
from cognition.text.truncate import fair_limit, shorten, shorten_together

REMARK = 60
"""The longest remark of what is left out."""


@given(st.text(), st.integers(0, 50))
def test_a_text_keeps_its_beginning_and_end_and_says_what_is_missing(text: str, limit: int) -> None:
    short = shorten(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        assert f"{len(text) - limit:,} of {len(text):,} characters left out" in short
        assert len(short) <= limit + REMARK


@given(st.lists(st.text(max_size=200), max_size=8), st.integers(0, 1000))
def test_texts_fit_their_budget_and_short_ones_give_way_to_nobody(texts: list[str], budget: int) -> None:
    limit = fair_limit(list(map(len, texts)), budget)
    kept = [min(len(text), limit) for text in texts]
    assert sum(kept) <= max(budget, 0)
    if sum(map(len, texts)) <= budget:
        assert shorten_together(texts, budget) == texts
    elif texts:
        assert sum(kept) + len(texts) > budget, "what is left over is less than one character each"
    assert all(len(text) <= limit for text in texts if len(text) <= budget // max(len(texts), 1))


@given(st.text())
def test_any_contribution_is_read(text: str) -> None:
    said, position = read_position(text)
    assert said in text
    assert position.confidence is None or 0 <= position.confidence <= 100
