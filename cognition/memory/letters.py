"""How alike a question and texts are in their letters, which outlives errors, endings and compounds."""

from collections.abc import Sequence
from functools import cache
from typing import Final
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

LENGTH: Final = 4
"""Characters of a gram: the best length for most European languages (McNamee and Mayfield, "Character N-Gram
Tokenization for European Language Text Retrieval", 2004)."""

SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
"""The usual k1 and b of BM25."""

SPACE: Final = 32
ACCENTS: Final = (0x300, 0x36F)
"""The first and the last mark that decomposed Latin, Greek and Cyrillic letters carry."""

PLANE: Final = 0x10000
"""Characters of which is known whether they are letters or figures; all beyond count as such."""

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ divided by the golden ratio, as in Fibonacci hashing."""

Grams = NDArray[np.uint64]


def likeness(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """BM25 over the four-letter grams of a question, 1 for the text that has most of it.

    What a gram tells is how few of these very texts have it, so it sets texts apart that were found already.

    Args:
        question: What is looked for.
        texts: What was found.

    Returns:
        A value in 0–1 for each text.
    """
    asked, documents = np.unique(_grams(question)), [_grams(text) for text in texts]
    if not (asked.size and documents):
        return np.zeros(len(texts))
    counts = np.array([_counted(asked, document) for document in documents], dtype=np.float64)
    sizes = np.array([document.size for document in documents])
    having = (counts > 0).sum(axis=0)
    rarity = np.log((len(texts) - having + 0.5) / (having + 0.5) + 1)
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * sizes / max(sizes.mean(), 1))
    scores = (counts / (counts + norm[:, None])) @ rarity
    best = scores.max()
    return np.asarray(scores / best if best > 0 else scores, dtype=np.float64)


def _grams(text: str) -> Grams:
    """Each run of four characters as a number, sorted; a space parts words, accents and case don't count."""
    decomposed = normalize("NFKD", f" {text.lower()} ").encode("utf-32-le", "replace")
    codes = np.frombuffer(decomposed, dtype=np.uint32)
    codes = codes[(codes < ACCENTS[0]) | (codes > ACCENTS[1])]
    codes = np.where(_is_word()[np.minimum(codes, PLANE - 1)], codes, SPACE)
    codes = codes[1:][(codes[1:] != SPACE) | (codes[:-1] != SPACE)].astype(np.uint64)
    grams = np.zeros(max(codes.size - LENGTH + 1, 0), dtype=np.uint64)
    for place in range(LENGTH):
        grams *= _SPREAD
        grams += codes[place : place + grams.size]
    grams.sort()
    return grams


def _counted(asked: Grams, document: Grams) -> NDArray[np.intp]:
    """How often a document has each gram of a question; both are sorted."""
    after, before = (np.searchsorted(document, asked, side) for side in ("right", "left"))
    return np.asarray(after - before, dtype=np.intp)


@cache
def _is_word() -> NDArray[np.bool_]:
    """For each character up to the last of the plane whether it is a letter or a figure."""
    return np.array([*(chr(code).isalnum() for code in range(PLANE - 1)), True])
