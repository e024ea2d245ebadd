"""Cached tokenisation and token counts per word, for tokenizers whose tokens never span two words."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain
from typing import Final

CACHED_WORDS: Final = 1 << 15
"""Maximum number of words in a cache."""

IGNORED: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x85\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\u2581\ufeff\ufff0-\uffff]"
)
"""Characters that a tokenizer may treat as a space or ignore, so that a word of them has no tokens."""

MAX_CACHED_LENGTH: Final = 64
"""Maximum length of a cached word in characters; longer ones are rarely repeated."""


def by_word(pieces: Callable[[str], Iterable[int]]) -> Callable[[str], list[int]]:
    """Return a tokenizer that caches the tokens of words: same result, several times as fast.

    SentencePiece tokenises each word independently, and texts repeat their words.

    Args:
        pieces: Function that returns the tokens of a text, without special tokens.
    """
    cached = lru_cache(CACHED_WORDS)(lambda word: tuple(pieces(word)))

    def tokenize(text: str) -> list[int]:
        words = text.split()
        if not words or IGNORED.search(text):
            return list(pieces(text))
        return list(
            chain.from_iterable(
                pieces(word) if len(word) > MAX_CACHED_LENGTH else cached(word) for word in words
            )
        )

    return tokenize


class WordCounter:
    """A token counter that sums the cached counts of words.

    About twenty times as fast as the tokenizer, and accurate to a token or two per text; see `by_word`.

    Args:
        count: Function that counts the tokens of a text, including special tokens.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._special = count("a") - 1
        self._word = lru_cache(CACHED_WORDS)(self._count_word)

    def __call__(self, text: str) -> int:
        """Count the tokens of a text, including special tokens."""
        words = text.split()
        if not words:
            return self._count(text)
        if len(text) > len(words) * MAX_CACHED_LENGTH:
            return self._special + sum(map(self._count_word, words))
        return self._special + sum(map(self._word, words))

    def _count_word(self, word: str) -> int:
        return self._count(word) - self._special
