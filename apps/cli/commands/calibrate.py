"""The `cognition calibrate` command, which measures an embedding model."""

import typer

from cognition.embedding import BUNDLED, calibrate
from cognition.embedding.calibration import calibration_file
from cognition.embedding.embedder import Anchors
from cognition.settings import process_settings


def run(model: str) -> None:
    """Calibrate a model and print its typical cosine similarities."""
    settings = process_settings()
    model = model or settings.memory_embedding
    typer.echo(f"Measuring {model}. This takes up to a minute …", err=True)
    anchors = calibrate(model, settings.home).calibration
    origin = "bundled" if model in BUNDLED else f"saved in {str(calibration_file(settings.home))!r}"
    typer.echo(
        f"Calibration of {model} ({origin}):\n"
        f"  {_line('two facts', anchors.facts)}\n"
        f"  {_line('question and fact', anchors.question)}"
    )


def _line(pair: str, anchors: Anchors) -> str:
    return f"{pair}: cosine {anchors.unrelated:.3f} if unrelated, {anchors.paraphrase:.3f} if they match"
