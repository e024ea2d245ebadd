"""How alike a question and texts are in their letters, which outlives errors, endings and compounds."""

from collections.abc import Sequence
from functools import cache
from typing import Final
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray

from cognition.vectors.scores import normalize_by_max

LENGTH: Final = 4
"""Characters of a gram: the best length for most European languages (McNamee and Mayfield, "Character N-Gram
Tokenization for European Language Text Retrieval", 2004)."""

SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
"""The usual k1 and b of BM25."""

SPACE: Final = 32
BREAK: Final = 1
"""Stands between two texts, in no gram of a question."""

PLANE: Final = 0x10000
"""Characters of which is known what they are; all beyond count as one letter."""

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ divided by the golden ratio, as in Fibonacci hashing."""

_SLOTS: Final = 16
"""Bits of a number that its place in a table is told by."""

Codes = NDArray[np.uint32]
Grams = NDArray[np.uint64]


def ngram_scores(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """BM25 over the four-letter grams of a question, 1 for the text that has most of it.

    What a gram tells is how few of these very texts have it, so it sets texts apart that were found already.

    Args:
        question: What is looked for.
        texts: What was found.

    Returns:
        A value in 0–1 for each text.
    """
    asked = np.unique(_grams(_codes([question])))
    if not (asked.size and texts):
        return np.zeros(len(texts))
    codes = _codes(texts)
    grams = _grams(codes)
    text_of = np.cumsum(codes == BREAK)[: grams.size]
    counts = _counted(asked, grams, text_of, len(texts))
    sizes = np.bincount(text_of, minlength=len(texts))
    having = (counts > 0).sum(axis=0)
    rarity = np.log((len(texts) - having + 0.5) / (having + 0.5) + 1)
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * sizes / max(sizes.mean(), 1))
    scores = (counts / (counts + norm[:, None])) @ rarity
    return np.asarray(normalize_by_max(scores), dtype=np.float64)


def _codes(texts: Sequence[str]) -> Codes:
    """The characters of texts, each after a break; one space parts words, accents and case don't count."""
    joined = "".join(f"{chr(BREAK)} {text.replace(chr(BREAK), ' ')} " for text in texts)[1:]
    raw = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype=np.uint32)
    codes = _folded()[np.minimum(raw, PLANE - 1)]
    codes = codes[codes > 0]
    return codes[1:][(codes[1:] != SPACE) | (codes[:-1] != SPACE)] if codes.size else codes


def _grams(codes: Codes) -> Grams:
    """Each run of four characters as a number, in their order."""
    grams = np.zeros(max(codes.size - LENGTH + 1, 0), dtype=np.uint64)
    for place in range(LENGTH):
        grams *= _SPREAD
        grams += codes[place : place + grams.size]
    return grams * _SPREAD


def _counted(asked: Grams, grams: Grams, text_of: NDArray[np.intp], texts: int) -> NDArray[np.float64]:
    """How often each of the texts has each gram of a question, as a table."""
    shift = np.uint64(64 - _SLOTS)
    slots = np.zeros(1 << _SLOTS, dtype=np.intp)
    slots[asked >> shift] = np.arange(asked.size)
    gram_of = slots[grams >> shift]
    hits = asked[gram_of] == grams
    cells = text_of[hits] * asked.size + gram_of[hits]
    return np.bincount(cells, minlength=texts * asked.size).reshape(texts, -1).astype(np.float64)


@cache
def _folded() -> Codes:
    """What each character counts as: its letter without case and accent, a space, or 0 for an accent."""
    return np.array([*map(_fold, range(PLANE - 1)), PLANE - 1], dtype=np.uint32)


def _fold(code: int) -> int:
    character = chr(code)
    if combining(character):
        return 0
    if code == BREAK:
        return BREAK
    if not character.isalnum():
        return SPACE
    bare = "".join(part for part in normalize("NFKD", character.lower()) if not combining(part))
    return ord(bare) if len(bare) == 1 else ord(character.lower()[0])
