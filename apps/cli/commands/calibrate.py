"""Measuring an embedding model."""

import typer

from cognition.embedding import BUNDLED, calibrate
from cognition.embedding.calibration import calibration_file
from cognition.embedding.embedder import Anchors
from cognition.settings import process_settings


def run(model: str) -> None:
    """Measure a model, and print what its cosines mean."""
    settings = process_settings()
    model = model or settings.memory_embedding
    typer.echo(f"Measuring {model}: up to a minute …", err=True)
    anchors = calibrate(model, settings.home).calibration
    kept = "shipped with it" if model in BUNDLED else f"kept in {str(calibration_file(settings.home))!r}"
    typer.echo(
        f"{model}, {kept}\n  {_line('two facts', anchors.facts)}\n"
        f"  {_line('question and fact', anchors.question)}"
    )


def _line(pair: str, anchors: Anchors) -> str:
    return f"{pair}: cosine {anchors.unrelated:.3f} when unrelated, {anchors.paraphrase:.3f} when they match"
