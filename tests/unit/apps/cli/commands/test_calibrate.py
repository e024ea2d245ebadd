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
    """Texts that say the same have one vector, if it is a model at all; any other has one of its own."""

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


def test_it_says_what_it_found_and_where_that_is_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(embedding._loaded, "acme/model", Groups(tells_apart=True))
    shown = run("calibrate", "acme/model")
    assert shown.exit_code == 0, shown.output
    kept = tmp_path / "home" / "calibration.json"
    assert str(kept) in shown.stdout
    assert "1.000 when they match" in shown.stdout
    assert kept.exists()


def test_a_model_that_tells_nothing_apart_is_refused_and_not_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(embedding._loaded, "acme/model", Groups(tells_apart=False))
    shown = run("calibrate", "acme/model")
    assert shown.exit_code == 1
    assert "is no scale" in shown.stderr
    assert not (tmp_path / "home" / "calibration.json").exists()
