"""What a search shows: neighbouring chunks of a source as one passage, within a budget of tokens."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Final

from cognition.memory.session.catalog import Source
from cognition.memory.session.chunk import SourceChunk
from cognition.text.tokens import estimate_tokens

FRAME_TOKENS: Final = 60
"""What stands around a passage beside its ids and headings: its place, time and score."""

LONGEST_PATH: Final = 160
"""Characters of the headings over a passage that are shown."""


@dataclass(frozen=True)
class Passage:
    """Chunks of a source that follow each other, in reading order.

    Attributes:
        first: The first of them.
        last: The last of them.
        text: Their text, each part once.
        score: The best of theirs, 0–1.
    """

    first: SourceChunk
    last: SourceChunk
    text: str
    score: float

    @property
    def path(self) -> str:
        """The headings over its beginning, outermost first, as far as they are shown."""
        return path_of(self.first)

    @property
    def lines(self) -> tuple[int, int]:
        """Its first and last line in the source, from 1."""
        return self.first.line_range[0], self.last.line_range[1]


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        passages: Best first.
        omitted: How many more chunks the budget had no room for.
        sources: How many sources were searched.
        indexing: Those of them that are found by their words only yet.
    """

    passages: list[Passage]
    omitted: int
    sources: int
    indexing: list[Source]


Scored = tuple[SourceChunk, float]


def passages(found: Sequence[Scored], max_tokens: int) -> tuple[list[Passage], int]:
    """The passages that a budget has room for, best first, and how many chunks it has no room for.

    Args:
        found: Chunks with their scores, best first.
        max_tokens: What the passages may take together, escaped and with what stands around them.
    """
    kept = list(_affordable(found, max_tokens))
    merged = [_merged(run) for run in _runs(kept)]
    merged.sort(key=lambda passage: -passage.score)
    return merged, len(found) - len(kept)


def _affordable(found: Iterable[Scored], left: int) -> Iterator[Scored]:
    """The best chunks that fit; of the very best as much as fits, so that a search never comes back empty."""
    for number, (fragment, score) in enumerate(found):
        frame = FRAME_TOKENS + _tokens("".join([fragment.source_id, fragment.chat_id, path_of(fragment)]))
        text = _tokens(fragment.text)
        if frame + text > left:
            if number == 0 and left > frame:
                yield replace(fragment, text=_cut(fragment.text, left - frame)), score
            return
        left -= frame + text
        yield fragment, score


def path_of(fragment: SourceChunk) -> str:
    """The headings over a chunk, as far as they are shown."""
    return " > ".join(fragment.heading_path)[:LONGEST_PATH]


def _tokens(text: str) -> int:
    """What a text takes where it is escaped."""
    return estimate_tokens(escape(text))


def _cut(text: str, tokens: int) -> str:
    size = len(text)
    while size and _tokens(text[:size]) >= tokens - 1:
        size = size * 9 // 10
    return f"{text[:size]} …"


def _runs(found: Iterable[Scored]) -> Iterator[list[Scored]]:
    """The chunks in reading order, those together that follow each other in one source."""
    run: list[Scored] = []
    for scored in sorted(found, key=lambda scored: (scored[0].version, scored[0].chunk_index)):
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
    for fragment, _ in run:
        begin = fragment.char_range[0]
        # Chunks of a text share their edges; turns of a conversation stand apart.
        text += "\n\n" * (begin > end) + fragment.text[max(0, end - begin) :]
        end = fragment.char_range[1]
    return Passage(run[0][0], run[-1][0], text, max(score for _, score in run))
