"""Properties of chunks: they cover any text, none is too large, and every short passage is inside one."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognition.documents.chunking import OVERLAP, Chunk, chunks, split
from cognition.embedding import Embedder, load_embedder

DATA = Path(__file__).parents[1] / "data"
PAGES = Path(__file__).parents[2] / "bench" / "data" / "dila_fiches.json"
EMOJI = "👩‍👩‍👧‍👦🏳️‍🌈é🇫🇷"
MARKDOWN = """# Title

Prose. More of it!

```python
# no heading
x = 1
```

| a | b |
|---|---|
| 1 | 2 |

## Sub
"""

texts = st.one_of(
    st.text(max_size=2_000),
    st.text(st.sampled_from("ab.\n #`~|\t\r "), max_size=3_000),
    st.lists(
        st.sampled_from([MARKDOWN, EMOJI, "人人生而自由。", "word " * 40, "x" * 700, "\n\n", "```\n"])
    ).map("".join),
    st.builds(lambda part, times: part * times, st.text(min_size=1, max_size=20), st.integers(1, 400)),
)


def words(text: str) -> int:
    """Return a size that does not increase with every character."""
    return 2 + len(text.split()) + len(text) // 8


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def check(text: str, result: Iterable[Chunk], size: Callable[[str], int], limit: int) -> None:
    reached = line = before = 0
    for number, chunk in enumerate(result):
        begin, end = chunk.chars
        assert chunk.index == number
        assert chunk.text == text[begin:end]
        assert chunk.shared == reached - begin
        assert begin <= reached < end, "no gap, and new text in each chunk"
        assert size(chunk.text) <= limit or len(chunk.text) == 1
        line, before = line + text.count("\n", before, begin), begin
        assert chunk.lines == (1 + line, 1 + line + text.count("\n", begin, end - 1))
        reached = end
    assert reached == len(text)


@settings(deadline=None)
@given(texts, st.integers(1, 600), st.sampled_from([len, words]))
def test_p42_p61_chunks_cover_any_text_and_none_is_over_the_limit(
    text: str, limit: int, size: Callable[[str], int]
) -> None:
    check(text, split([text], size, limit), size, limit)


@settings(deadline=None)
@given(texts, st.integers(20, 600), st.integers(1, 700))
def test_chunks_do_not_depend_on_how_the_text_is_read(text: str, limit: int, piece: int) -> None:
    assert list(split(pieces(text, piece), len, limit)) == list(split([text], len, limit))


@settings(deadline=None)
@given(texts, st.integers(2 * OVERLAP, 2_000))
def test_every_passage_of_200_characters_lies_inside_one_chunk(text: str, limit: int) -> None:
    ranges = [chunk.chars for chunk in split([text], len, limit)]
    for (whole, end), (begin, _) in pairwise(ranges):
        assert end - begin >= OVERLAP or begin == whole
        assert end - begin <= OVERLAP + 100, "the overlap exceeds its size by at most a sentence"


@pytest.fixture(scope="module", params=["e5-small", "use-multilingual"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return load_embedder(request.param, Path())


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_p42_no_chunk_is_longer_than_the_model_reads(embedder: Embedder, data: st.DataObject) -> None:
    text = data.draw(texts) * data.draw(st.integers(1, 8))
    check(text, chunks([text], embedder), embedder.count_tokens, embedder.chunk_tokens)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "人人生而自由" * 10_000,
        EMOJI * 5_000,
        " " * 100_000,
        "\n" * 50_000,
        "\0" * 20_000,
        "\ud800" * 20_000,
        "ﷺ" * 5_000,
        "\n".join(json.loads((DATA / "naughty_strings.json").read_text(encoding="utf-8"))) * 3,
    ],
    ids=["unbroken", "cjk", "emoji", "spaces", "line-ends", "nul", "surrogates", "ligature", "naughty"],
)
def test_p52_p61_texts_without_breaks_are_split_too(embedder: Embedder, text: str) -> None:
    check(text, chunks([text], embedder), embedder.count_tokens, embedder.chunk_tokens)


def test_p61_lines_of_a_megabyte_are_split_too() -> None:
    text = "\n".join(["x" * 1_000_000, "word " * 200_000, "字" * 1_000_000])
    check(text, split([text], len, 1_600), len, 1_600)


def test_p42_every_passage_of_long_files_lies_inside_a_chunk(embedder: Embedder) -> None:
    pages = json.loads(PAGES.read_text(encoding="utf-8"))["data"]
    text = "\n\n".join(paragraph["context"] for page in pages for paragraph in page["paragraphs"])
    result = list(chunks([text], embedder))
    check(text, result, embedder.count_tokens, embedder.chunk_tokens)
    ends = [chunk.chars for chunk in result]
    assert len(text) > 1_300_000
    assert all(end - begin >= OVERLAP for (_, end), (begin, _) in pairwise(ends))
