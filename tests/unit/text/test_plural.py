import pytest

from cognition.text.plural import pluralize


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (1_000, "1,000 steps")]
)
def test_a_noun_is_in_the_plural_for_all_but_one(number: int, text: str) -> None:
    assert pluralize(number, "step") == text
