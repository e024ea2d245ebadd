"""Normalisation of scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def normalize_by_max(scores: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Divide scores by the best one, giving values from 0 to 1; all 0 if no score is positive."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
