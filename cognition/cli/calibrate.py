"""Measuring an embedding model."""

import typer

from cognition.embedding import calibrate
from cognition.embedding.base import Anchors
from cognition.settings import process_settings


def run(model: str) -> None:
    """Measure a model, and print what its cosines mean."""
    settings = process_settings()
    model = model or settings.memory_embedding
    typer.echo(f"Measuring {model}: up to a minute …", err=True)
    anchors = calibrate(model, settings.home).calibration
    typer.echo(
        f"{model}\n  {_line('two facts', anchors.facts)}\n  {_line('question and fact', anchors.question)}"
    )


def _line(pair: str, anchors: Anchors) -> str:
    return f"{pair}: cosine {anchors.unrelated:.3f} when unrelated, {anchors.paraphrase:.3f} when they match"
