"""Tests of the embedded text of a chunk: the part that the previous chunk does not contain."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognition.documents.chunking import split
from cognition.embedding import load_embedder
from cognition.memory.session import saver as saving
from cognition.memory.session.chunk import SourceChunk
from cognition.services import Services

TEXT = "\n\n".join(
    f"In year {n} the harbour master counted {n * 7} ships, of which {n % 5} carried salt, and had their "
    f"captains sign page {n} of the register that the city keeps in its north tower."
    for n in range(60)
)


def fragment(text: str, shared: int) -> SourceChunk:
    return SourceChunk(
        user_id="ada",
        chat_id="c",
        source_id="s",
        version=1,
        chunk_index=0,
        text=text,
        char_range=(0, len(text)),
        line_range=(1, 1),
        shared=shared,
    )


@pytest.mark.parametrize("large", [False, True], ids=["at once", "in the background"])
async def test_no_sentence_is_embedded_twice(
    services: Services, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    if large:
        monkeypatch.setattr(saving, "LARGE", 1_000)
    session = await services.session()
    saved = await session.save("ada", "c", "register", TEXT)
    await session.wait_until_indexed()
    stored = await session.chunks("ada", "c", "register", range(saved.chunks))
    embedded = [one.embedded_text for one in stored]
    assert "".join(embedded) == TEXT
    vectors = await session.vectors("ada", "c", "register", range(saved.chunks))
    embedder = load_embedder(services.settings.session_embedding, Path())
    actual = np.array([vectors[one.chunk_index] for one in stored])
    assert np.allclose(actual, embedder.embed(embedded, "passage"), atol=1e-5)
    assert not np.allclose(actual, embedder.embed([one.text for one in stored], "passage"), atol=1e-2)


def test_a_short_new_part_is_embedded_with_the_shared_part() -> None:
    assert fragment("The ships of the year carried salt. Amen.", 36).embedded_text.endswith("salt. Amen.")
    assert fragment("Amen. The ships of the year carried salt.", 6).embedded_text.startswith("The ships")


@given(st.text(min_size=1, max_size=3_000), st.integers(20, 600))
def test_every_part_of_a_text_is_embedded(text: str, limit: int) -> None:
    whole = ""
    for chunk in split([text], len, limit):
        embedded = fragment(chunk.text, chunk.shared).embedded_text
        assert embedded == chunk.text or len(embedded) >= len(chunk.text) / 2
        whole += chunk.text[chunk.shared :]
        assert embedded.endswith(chunk.text[chunk.shared :])
    assert whole == text


def test_a_blank_new_part_is_embedded_with_the_shared_part() -> None:
    text = "The ships of the year carried salt." + "\n" * 700
    assert fragment(text, 35).embedded_text == text
