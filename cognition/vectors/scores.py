"""Scores on one scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def normalize_by_max(scores: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Scores on a scale that ends with the best of them, 0–1; all 0 where none is above that."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
