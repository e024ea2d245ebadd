"""Tests of passages: adjacent chunks are merged without repetition, within the token budget."""

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from cognition.memory.session.chunk import SourceChunk, place_of, point_id
from cognition.memory.session.passages import passages
from cognition.text.tokens import estimate_tokens

TEXT = "".join(chr(0x4E00 + n) if n % 3 else f"<{n}> " for n in range(600))
WIDTH, OVERLAP = 40, 12


def fragment(index: int, version: int = 1) -> SourceChunk:
    begin = max(0, index * WIDTH - OVERLAP)
    end = (index + 1) * WIDTH
    return SourceChunk(
        user_id="ada",
        chat_id="c",
        source_id=f"s{version}",
        version=version,
        chunk_index=index,
        text=TEXT[begin:end],
        char_range=(begin, end),
        line_range=(index + 1, index + 1),
    )


Places = list[tuple[int, int]]
places = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 12)), unique=True)


@given(places)
def test_adjacent_chunks_are_merged_without_repetition(found: Places) -> None:
    scored = [(fragment(index, version), 1 / (2 + rank)) for rank, (version, index) in enumerate(found)]
    shown, omitted = passages(scored, 1_000_000)
    assert omitted == 0
    assert [p.score for p in shown] == sorted((p.score for p in shown), reverse=True)
    covered: list[tuple[int, int]] = []
    for passage in shown:
        assert passage.text == TEXT[passage.first.char_range[0] : passage.last.char_range[1]]
        run = range(passage.first.chunk_index, passage.last.chunk_index + 1)
        assert passage.lines == (run[0] + 1, run[-1] + 1)
        covered += [(passage.first.version, index) for index in run]
        assert (passage.first.version, run[-1] + 1) not in found
    assert sorted(covered) == sorted(found)


@given(places, st.integers(0, 2_000))
def test_the_best_chunks_that_fit_are_shown_and_the_others_counted(found: Places, budget: int) -> None:
    scored = [(fragment(index, version), 1 / (2 + rank)) for rank, (version, index) in enumerate(found)]
    shown, omitted = passages(scored, budget)
    assert sum(estimate_tokens(escape(passage.text)) for passage in shown) <= budget
    kept = sum(p.last.chunk_index - p.first.chunk_index + 1 for p in shown)
    assert kept + omitted == len(found)
    if shown:
        assert shown[0].score == scored[0][1]


@given(st.integers(1, 2**40), st.integers(0, 2**40))
def test_a_point_id_encodes_version_and_index(version: int, index: int) -> None:
    assert place_of(point_id(version, index)) == (version, index)
