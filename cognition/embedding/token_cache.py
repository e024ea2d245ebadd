"""Finding and counting tokens word by word, for tokenizers whose pieces never span two words."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain
from typing import Final

REMEMBERED: Final = 1 << 15
NOTHING: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x85\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\u2581\ufeff\ufff0-\uffff]"
)
"""What a tokenizer may take for a space or for nothing, so that a word of it alone has no pieces."""

LONGEST: Final = 64
"""Characters of a word that is worth remembering; longer ones hardly come again."""


def by_word(pieces: Callable[[str], Iterable[int]]) -> Callable[[str], list[int]]:
    """The tokenizer that remembers the pieces of words: it finds the same ones, several times as fast.

    SentencePiece finds the best pieces of each word by itself, and a text repeats its words.

    Args:
        pieces: Finds the pieces of a text, with nothing around them.
    """
    remembered = lru_cache(REMEMBERED)(lambda word: tuple(pieces(word)))

    def found(text: str) -> list[int]:
        words = text.split()
        if not words or NOTHING.search(text):
            return list(pieces(text))
        return list(
            chain.from_iterable(pieces(word) if len(word) > LONGEST else remembered(word) for word in words)
        )

    return found


class WordCounter:
    """Counts as the tokenizer does, to a token or two per text, and some twenty times as fast.

    It adds up the counts of words, which are remembered; see `by_word`.

    Args:
        count: The tokenizer's own count of a text, with whatever it puts around each.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._around = count("a") - 1
        self._word = lru_cache(REMEMBERED)(self._counted)

    def __call__(self, text: str) -> int:
        """Tokens of a text, with what the tokenizer puts around it."""
        words = text.split()
        if not words:
            return self._count(text)
        if len(text) > len(words) * LONGEST:
            return self._around + sum(map(self._counted, words))
        return self._around + sum(map(self._word, words))

    def _counted(self, word: str) -> int:
        return self._count(word) - self._around
