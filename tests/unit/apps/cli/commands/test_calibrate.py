import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cognition import embedding
from cognition.embedding import Embedder, Stamp, TextRole
from cognition.embedding.calibration import pairs
from cognition.embedding.embedder import Vectors
from tests.unit.apps.cli.conftest import Run


class Groups(Embedder):
    """A model that gives paraphrases the same vector if `tells_apart`, and every other text its own."""

    stamp = Stamp("acme/model", "1", 64)
    chunk_tokens = max_tokens = 10_000

    def __init__(self, *, tells_apart: bool) -> None:
        self._same = {second: first for first, second in pairs().paraphrases} if tells_apart else {}

    def _count(self, text: str) -> int:
        return len(text.split())

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        rows = np.array([_seeded(self._same.get(text, text)) for text in texts], dtype=np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _seeded(text: str) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    return np.random.default_rng(seed).normal(size=64).astype(np.float32)


def test_the_calibration_is_printed_and_saved(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(embedding._loaded, "acme/model", Groups(tells_apart=True))
    shown = run("calibrate", "acme/model")
    assert shown.exit_code == 0, shown.output
    saved = tmp_path / "home" / "calibration.json"
    assert str(saved) in shown.stdout
    assert "1.000 if they match" in shown.stdout
    assert saved.exists()


def test_a_model_without_a_usable_scale_is_rejected_and_not_saved(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(embedding._loaded, "acme/model", Groups(tells_apart=False))
    shown = run("calibrate", "acme/model")
    assert shown.exit_code == 1
    assert "does not separate" in shown.stderr
    assert not (tmp_path / "home" / "calibration.json").exists()
