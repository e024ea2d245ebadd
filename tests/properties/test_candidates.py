"""Properties of `contenders`: ranking them gives the same result as ranking all candidates."""

from hypothesis import given
from hypothesis import strategies as st

from cognition.memory.long_term.ranking import Candidate, contenders

WEIGHTS = (0.55, 0.75, 1.0, 1.3, 1.7)
SCORED = st.tuples(st.floats(0, 1), st.integers(1, 5))


@given(st.lists(SCORED, max_size=60), st.integers(1, 12), st.permutations(WEIGHTS))
def test_contenders_include_the_best_of_all(
    scored: list[tuple[float, int]], limit: int, weights: list[float]
) -> None:
    scored_candidates = [Candidate(str(i), 0.5, relevance) for i, (relevance, _) in enumerate(scored)]
    importance = {str(i): level for i, (_, level) in enumerate(scored)}

    def best(candidates: list[Candidate]) -> list[str]:
        ranked = sorted(candidates, key=lambda c: (-c.relevance * weights[importance[c.id] - 1], c.id))
        return [candidate.id for candidate in ranked[:limit]]

    assert best(contenders(scored_candidates, limit, weights)) == best(scored_candidates)
