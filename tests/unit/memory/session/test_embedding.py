"""What the embedding of a chunk is of: what it adds to the chunk before."""

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
    await session.indexed()
    kept = await session.fragments("ada", "c", "register", range(saved.chunks))
    told = [one.embedded_text for one in kept]
    assert "".join(told) == TEXT
    vectors = await session.vectors("ada", "c", "register", range(saved.chunks))
    embedder = load_embedder(services.settings.session_embedding, Path())
    found = np.array([vectors[one.chunk_index] for one in kept])
    assert np.allclose(found, embedder.embed(told, "passage"), atol=1e-5)
    assert not np.allclose(found, embedder.embed([one.text for one in kept], "passage"), atol=1e-2)


def test_an_end_that_says_little_is_embedded_with_what_stands_before_it() -> None:
    assert fragment("The ships of the year carried salt. Amen.", 36).embedded_text.endswith("salt. Amen.")
    assert fragment("Amen. The ships of the year carried salt.", 6).embedded_text.startswith("The ships")


@given(st.text(min_size=1, max_size=3_000), st.integers(20, 600))
def test_nothing_of_a_text_is_in_no_embedding(text: str, limit: int) -> None:
    whole = ""
    for chunk in split([text], len, limit):
        told = fragment(chunk.text, chunk.shared).embedded_text
        assert told == chunk.text or len(told) >= len(chunk.text) / 2
        whole += chunk.text[chunk.shared :]
        assert told.endswith(chunk.text[chunk.shared :])
    assert whole == text


def test_an_end_of_blanks_is_embedded_with_what_stands_before_it() -> None:
    text = "The ships of the year carried salt." + "\n" * 700
    assert fragment(text, 35).embedded_text == text
