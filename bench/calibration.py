"""Cosines of each embedding model on the included pairs, and the resulting anchors.

Run: python -m bench.calibration [MODEL ...]    (default: the two bundled models; the printed
anchors belong in their classes in cognition/embedding/)
"""

import sys
import tempfile
from dataclasses import fields
from pathlib import Path

import numpy as np

from bench.report import report
from cognition.embedding import Between, calibrate
from cognition.embedding.calibration import Measurement
from cognition.embedding.embedder import Vectors

BETWEEN: dict[str, Between] = {"asked": "question", "answers": "question", "nearest": "question"}
FLOORS = (0.35, 0.55, 0.75, 0.85)
COLUMNS = ("model, pairs", "number", "median cosine", "similarity", *(f"≥ {floor}" for floor in FLOORS))


def main(names: list[str]) -> None:
    """Measure the models and print the tables."""
    rows: list[tuple[object, ...]] = []
    separation: list[tuple[object, ...]] = []
    for name in names:
        with tempfile.TemporaryDirectory() as home:
            measured = calibrate(name, Path(home))
        rows += kinds(name, measured)
        separation.append(
            (
                name,
                auc(measured.paraphrases, measured.unrelated),
                auc(measured.paraphrases, measured.contradictions),
                auc(measured.answers, measured.nearest),
            )
        )
    report("calibration", "Cosines of pairs, raw and on the calibrated scale", COLUMNS, rows)
    columns = ("model", "paraphrase / unrelated", "paraphrase / contradiction", "answer / unanswered")
    report("calibration_auc", "Separation of the kinds (area under the ROC curve)", columns, separation)


def kinds(name: str, measured: Measurement) -> list[tuple[object, ...]]:
    """Return a row per kind of pair: medians, and the share above each threshold."""
    rows: list[tuple[object, ...]] = []
    for kind in fields(measured):
        cosines = getattr(measured, kind.name)
        similarity = measured.calibration.similarity(cosines, BETWEEN.get(kind.name, "facts"))
        medians = f"{np.median(cosines):.4f}", f"{np.median(similarity):.2f}"
        shares = [f"{np.mean(similarity >= floor):.0%}" for floor in FLOORS]
        rows.append((f"{name}, {kind.name}", len(cosines), *medians, *shares))
    return rows


def auc(above: Vectors, below: Vectors) -> str:
    """Return the probability that a value of `above` exceeds a value of `below` (AUC)."""
    return f"{(above[:, None] > below[None]).mean():.3f}"


if __name__ == "__main__":
    main(sys.argv[1:] or ["e5-small", "use-multilingual"])
