"""Embedding models behind one interface: two bundled ones, and any of sentence-transformers."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast

from cognition.embedding.base import Anchors, Calibration, Embedder, EmbeddingUnavailable, Role, Stamp

__all__ = [
    "Anchors",
    "Calibration",
    "Embedder",
    "EmbeddingUnavailable",
    "Role",
    "Stamp",
    "load_embedder",
]

# Imported when asked for: a model's code alone takes up to seconds.
BUNDLED = {
    "e5-small": "cognition.embedding.e5_small:E5Small",
    "use-multilingual": "cognition.embedding.use_multilingual:UseMultilingual",
}


@cache
def load_embedder(name: str, home: Path) -> Embedder:
    """The embedding model of that name, loaded once per process.

    Args:
        name: `e5-small`, `use-multilingual`, or the name or folder of a sentence-transformers model.
        home: The folder of everything stored, where the calibrations of other models are.

    Raises:
        EmbeddingUnavailable: The model, its package or its calibration is not there.
    """
    module, _, backend = BUNDLED[name].partition(":")
    return cast("Embedder", getattr(import_module(module), backend)(name, home))
