"""Print how each embedding model's cosines lie over the shipped pairs, and the anchors that follow.

Usage: python bench/calibration.py [MODEL ...]; without a name, the two bundled models, whose classes in
cognition/embedding/ hold the anchors that this prints. Writes bench/results/calibration.json.
"""

import json
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from cognition.embedding import Between, calibrate
from cognition.embedding.base import Vectors
from cognition.embedding.calibration import Measurement

BETWEEN: dict[str, Between] = {"asked": "question", "answers": "question", "nearest": "question"}
HOME = Path(".cognition")
RESULTS = Path(__file__).parent / "results" / "calibration.json"


def main(names: list[str]) -> None:
    """Measure the models, print their tables and write the figures."""
    results: dict[str, Any] = {}
    for name in names:
        measured = calibrate(name, HOME)
        results[name] = figures(measured)
        print_table(name, results[name])
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


def figures(measured: Measurement) -> dict[str, Any]:
    """Medians and spread of each kind, on the raw and on the calibrated scale, and how well kinds part."""
    calibration = measured.calibration
    kinds = {}
    for kind in fields(measured):
        cosines = getattr(measured, kind.name)
        similarities = calibration.similarity(cosines, BETWEEN.get(kind.name, "facts"))
        kinds[kind.name] = {
            "pairs": len(cosines),
            "cosine": quartiles(cosines),
            "similarity": quartiles(similarities),
            "at_least": {str(floor): share(similarities >= floor) for floor in (0.35, 0.55, 0.75, 0.85)},
        }
    return {
        "anchors": asdict(calibration),
        "kinds": kinds,
        "auc": {
            "paraphrases above unrelated": auc(measured.paraphrases, measured.unrelated),
            "paraphrases above contradictions": auc(measured.paraphrases, measured.contradictions),
            "answers above the nearest of the unanswered": auc(measured.answers, measured.nearest),
        },
    }


def print_table(name: str, result: dict[str, Any]) -> None:
    """One model's figures as a Markdown table."""
    print(f"\n## {name}\n\n{result['anchors']}\n")
    print("| kind | pairs | cosine p25 / median / p75 | similarity | >= 0.35 | >= 0.55 | >= 0.75 | >= 0.85 |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, row in result["kinds"].items():
        spread = [" / ".join(f"{value:.3f}" for value in row[scale]) for scale in ("cosine", "similarity")]
        shares = " | ".join(f"{value:.0%}" for value in row["at_least"].values())
        print(f"| {kind} | {row['pairs']} | {spread[0]} | {spread[1]} | {shares} |")
    print("\nAUC: " + ", ".join(f"{kind} {value:.3f}" for kind, value in result["auc"].items()))


def quartiles(values: Vectors) -> list[float]:
    """The 25th, 50th and 75th percentile."""
    return [round(float(value), 4) for value in np.percentile(values, [25, 50, 75])]


def share(hits: Any) -> float:
    """The share of true values."""
    return round(float(np.mean(hits)), 3)


def auc(above: Vectors, below: Vectors) -> float:
    """How often one of `above` is greater than one of `below` (area under the ROC curve)."""
    return round(float((above[:, None] > below[None]).mean()), 4)


if __name__ == "__main__":
    main(sys.argv[1:] or ["e5-small", "use-multilingual"])
