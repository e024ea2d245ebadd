"""Character 4-gram BM25, which tolerates typos, inflection and compounds."""

from collections.abc import Sequence
from functools import cache
from typing import Final
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray

from cognition.vectors.scores import normalize_by_max

LENGTH: Final = 4
"""Length of an n-gram, the best for most European languages (McNamee and Mayfield, "Character N-Gram
Tokenization for European Language Text Retrieval", 2004)."""

SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
"""The usual k1 and b of BM25."""

SPACE: Final = 32
BREAK: Final = 1
"""The code that separates two texts; it is in no n-gram of a query."""

PLANE: Final = 0x10000
"""Size of the folding table; all characters beyond it count as the same letter."""

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ divided by the golden ratio, as in Fibonacci hashing."""

_SLOTS: Final = 16
"""Number of leading bits of a hashed n-gram that select its slot in the lookup table."""

Codes = NDArray[np.uint32]
Grams = NDArray[np.uint64]


def ngram_scores(query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Score texts by BM25 over the character 4-grams of a query; the best text scores 1.

    The IDF is computed over these texts only, so the score distinguishes texts that a search already found.

    Args:
        query: The search query.
        texts: The texts found.

    Returns:
        A score from 0 to 1 for each text.
    """
    query_grams = np.unique(_grams(_codes([query])))
    if not (query_grams.size and texts):
        return np.zeros(len(texts))
    codes = _codes(texts)
    grams = _grams(codes)
    text_of = np.cumsum(codes == BREAK)[: grams.size]
    counts = _counts(query_grams, grams, text_of, len(texts))
    sizes = np.bincount(text_of, minlength=len(texts))
    document_counts = (counts > 0).sum(axis=0)
    idf = np.log((len(texts) - document_counts + 0.5) / (document_counts + 0.5) + 1)
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * sizes / max(sizes.mean(), 1))
    scores = (counts / (counts + norm[:, None])) @ idf
    return np.asarray(normalize_by_max(scores), dtype=np.float64)


def _codes(texts: Sequence[str]) -> Codes:
    """Return the folded characters of texts, each after a break, with single spaces between words."""
    joined = "".join(f"{chr(BREAK)} {text.replace(chr(BREAK), ' ')} " for text in texts)[1:]
    raw = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype=np.uint32)
    codes = _folded()[np.minimum(raw, PLANE - 1)]
    codes = codes[codes > 0]
    return codes[1:][(codes[1:] != SPACE) | (codes[:-1] != SPACE)] if codes.size else codes


def _grams(codes: Codes) -> Grams:
    """Return the hash of each n-gram, in order."""
    grams = np.zeros(max(codes.size - LENGTH + 1, 0), dtype=np.uint64)
    for offset in range(LENGTH):
        grams *= _SPREAD
        grams += codes[offset : offset + grams.size]
    return grams * _SPREAD


def _counts(query_grams: Grams, grams: Grams, text_of: NDArray[np.intp], texts: int) -> NDArray[np.float64]:
    """Count the occurrences of each n-gram of a query in each text."""
    shift = np.uint64(64 - _SLOTS)
    slots = np.zeros(1 << _SLOTS, dtype=np.intp)
    slots[query_grams >> shift] = np.arange(query_grams.size)
    gram_of = slots[grams >> shift]
    hits = query_grams[gram_of] == grams
    cells = text_of[hits] * query_grams.size + gram_of[hits]
    return np.bincount(cells, minlength=texts * query_grams.size).reshape(texts, -1).astype(np.float64)


@cache
def _folded() -> Codes:
    """Return the folding table: each letter without case and accent, a space, or 0 for a combining accent."""
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
