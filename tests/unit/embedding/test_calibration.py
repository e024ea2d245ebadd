"""Tests of calibration: the common scale, and the measured and stored anchors."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cognition.embedding import Anchors, Calibration, Embedder, EmbeddingUnavailable, Stamp, calibrate
from cognition.embedding.calibration import pairs, store_calibration, stored_calibration

COSINES = st.floats(-1, 1, width=32)
STAMP = Stamp("acme/model", "0123abc", 8)
CALIBRATION = Calibration(Anchors(0.1, 0.8), Anchors(0.2, 0.7))


@st.composite
def anchors(draw: st.DrawFn) -> Anchors:
    low, high = sorted((draw(COSINES), draw(COSINES)))
    assume(high - low > 0.01)
    return Anchors(low, high)


@given(anchors(), anchors(), COSINES, COSINES, st.sampled_from(["facts", "question"]))
def test_similarity_rises_with_the_cosine_between_0_and_1(facts, question, one, other, between) -> None:
    calibration = Calibration(facts, question)
    lower, higher = sorted((one, other))
    low, high = calibration.similarity(lower, between), calibration.similarity(higher, between)
    assert 0 <= low <= high <= 1
    np.testing.assert_allclose(
        calibration.similarity(np.array([lower, higher]), between), [low, high], atol=1e-9
    )


@given(anchors(), anchors())
def test_similarity_is_a_fifth_at_the_unrelated_anchor_and_nine_tenths_at_the_other(facts, question) -> None:
    calibration = Calibration(facts, question)
    assert calibration.similarity(facts.unrelated) == pytest.approx(0.20)
    assert calibration.similarity(facts.paraphrase) == pytest.approx(0.90)
    assert calibration.similarity(question.unrelated, "question") == pytest.approx(0.20)
    assert calibration.similarity(question.paraphrase, "question") == pytest.approx(0.90)


@pytest.mark.parametrize(
    ("unrelated", "paraphrase"), [(0.8, 0.8), (0.9, 0.8), (-2, 0.5), (0.5, 2), (float("nan"), 0.5)]
)
def test_invalid_anchors_are_rejected(unrelated: float, paraphrase: float) -> None:
    with pytest.raises(ValueError, match="does not separate paraphrases"):
        Anchors(unrelated, paraphrase)


def test_p45_the_shipped_anchors_are_the_measured_ones(embedder: Embedder, tmp_path: Path) -> None:
    measured = calibrate(embedder.stamp.model, tmp_path)
    for between in ("facts", "question"):
        shipped, actual = getattr(embedder.calibration, between), getattr(measured.calibration, between)
        assert shipped.unrelated == pytest.approx(actual.unrelated, abs=0.003)
        assert shipped.paraphrase == pytest.approx(actual.paraphrase, abs=0.003)
    similar = embedder.calibration.similarity
    assert np.mean(similar(measured.unrelated) < 0.55) > 0.9
    assert np.mean(similar(measured.paraphrases) >= 0.55) > 0.9
    assert np.mean(similar(measured.nearest, "question") < 0.35) >= 0.75
    assert not (tmp_path / "calibration.json").exists()


def test_the_shipped_texts_are_at_least_sixty_of_each_kind_and_distinct() -> None:
    shipped = pairs()
    for kind in (shipped.paraphrases, shipped.contradictions, shipped.unrelated, shipped.questions):
        assert len(set(kind)) == len(kind) >= 60
        assert all(first != second for first, second in kind)


def test_anchors_are_kept_per_model_and_revision(tmp_path: Path) -> None:
    home = tmp_path / "not yet there"
    other = Calibration(Anchors(0.3, 0.4), Anchors(0.3, 0.5))
    store_calibration(STAMP, CALIBRATION, home)
    store_calibration(Stamp("acme/model", "0456def", 8), other, home)
    store_calibration(STAMP, CALIBRATION, home)
    assert stored_calibration("acme/model", STAMP, home) == CALIBRATION
    assert stored_calibration("acme/model", Stamp("acme/model", "0456def", 8), home) == other
    assert [path.name for path in home.iterdir()] == ["calibration.json"]


def test_an_uncalibrated_model_is_rejected_with_the_command_to_run(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="run `cognition calibrate acme/model`"):
        stored_calibration("acme/model", STAMP, tmp_path)


def test_a_damaged_file_is_reported_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text('[{"stamp"')
    for use in (
        lambda: stored_calibration("acme/model", STAMP, tmp_path),
        lambda: store_calibration(STAMP, CALIBRATION, tmp_path),
    ):
        with pytest.raises(EmbeddingUnavailable, match=r"calibration.json' is damaged"):
            use()
    assert path.read_text() == '[{"stamp"'
