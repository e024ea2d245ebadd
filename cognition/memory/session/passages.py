"""The passages of a search result: adjacent chunks merged, within a token budget."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Final

from cognition.memory.session.catalog import Source
from cognition.memory.session.chunk import SourceChunk
from cognition.text.tokens import estimate_tokens

FRAME_TOKENS: Final = 60
"""Estimated tokens of a passage's metadata other than its ids and headings."""

LONGEST_PATH: Final = 160
"""Maximum length of the heading path of a passage in characters."""


@dataclass(frozen=True)
class Passage:
    """Consecutive chunks of a source.

    Attributes:
        first: The first chunk.
        last: The last chunk.
        text: The merged text, without repeating the parts that chunks share.
        score: The best score of the chunks, from 0 to 1.
    """

    first: SourceChunk
    last: SourceChunk
    text: str
    score: float

    @property
    def path(self) -> str:
        """The heading path of its beginning, outermost first, shortened for display."""
        return path_of(self.first)

    @property
    def lines(self) -> tuple[int, int]:
        """Its first and last line in the source, counted from 1."""
        return self.first.line_range[0], self.last.line_range[1]


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        passages: The passages, best first.
        omitted: Number of chunks omitted because of the token budget.
        sources: Number of sources searched.
        indexing: The sources searched by words only, because their embeddings are incomplete.
    """

    passages: list[Passage]
    omitted: int
    sources: int
    indexing: list[Source]


Scored = tuple[SourceChunk, float]


def passages(hits: Sequence[Scored], max_tokens: int) -> tuple[list[Passage], int]:
    """Merge chunks into passages that fit a token budget.

    Args:
        hits: The chunks with their scores, best first.
        max_tokens: The budget for all passages, escaped and with their metadata.

    Returns:
        The passages, best first, and the number of omitted chunks.
    """
    kept = list(_affordable(hits, max_tokens))
    merged = [_merged(run) for run in _runs(kept)]
    merged.sort(key=lambda passage: -passage.score)
    return merged, len(hits) - len(kept)


def _affordable(hits: Iterable[Scored], left: int) -> Iterator[Scored]:
    """Yield the best chunks that fit. The very best is cut to fit, so that a search never returns nothing."""
    for number, (chunk, score) in enumerate(hits):
        frame = FRAME_TOKENS + _tokens("".join([chunk.source_id, chunk.chat_id, path_of(chunk)]))
        text = _tokens(chunk.text)
        if frame + text > left:
            if number == 0 and left > frame:
                yield replace(chunk, text=_cut(chunk.text, left - frame)), score
            return
        left -= frame + text
        yield chunk, score


def path_of(chunk: SourceChunk) -> str:
    """Return the heading path of a chunk, shortened for display."""
    return " > ".join(chunk.heading_path)[:LONGEST_PATH]


def _tokens(text: str) -> int:
    """Estimate the tokens of a text once it is escaped."""
    return estimate_tokens(escape(text))


def _cut(text: str, tokens: int) -> str:
    size = len(text)
    while size and _tokens(text[:size]) >= tokens - 1:
        size = size * 9 // 10
    return f"{text[:size]} …"


def _runs(hits: Iterable[Scored]) -> Iterator[list[Scored]]:
    """Group the chunks into runs of consecutive chunks of a source, in reading order."""
    run: list[Scored] = []
    for scored in sorted(hits, key=lambda scored: (scored[0].version, scored[0].chunk_index)):
        if run and not _follows(run[-1][0], scored[0]):
            yield run
            run = []
        run.append(scored)
    if run:
        yield run


def _follows(one: SourceChunk, other: SourceChunk) -> bool:
    return (one.version, one.chunk_index + 1) == (other.version, other.chunk_index)


def _merged(run: Sequence[Scored]) -> Passage:
    text, end = "", run[0][0].char_range[0]
    for chunk, _ in run:
        begin = chunk.char_range[0]
        # Chunks of a text overlap, but turns of a conversation do not.
        text += "\n\n" * (begin > end) + chunk.text[max(0, end - begin) :]
        end = chunk.char_range[1]
    return Passage(run[0][0], run[-1][0], text, max(score for _, score in run))
