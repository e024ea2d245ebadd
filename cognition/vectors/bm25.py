"""The lexical side of a search: BM25 vectors, stemmed in the language of each text."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain
from threading import Lock
from typing import Final
from unicodedata import normalize

import qdrant_edge as edge
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from cognition.vectors import SparseVector

STEMMED: Final = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""ISO 639-1 codes of the languages with a stemmer."""

UNSTEMMED: Final = ("zh", "ja", "ko", "pl", "cs", "uk", "he", "hi", "th", "vi", "fa")
"""Languages that are told apart but only cut into words."""

WORD: Final = re.compile(r"\w+")

TELLING: Final = 400
"""Characters by which a text's language is told: more take longer and tell no more."""

_detecting: Final = Lock()


def detect_language(text: str) -> str:
    """The ISO 639-1 code of a text's language; `en` for a text without letters.

    Short texts are often misjudged, which costs little: queries are stemmed in every language that is stored.
    """
    first = next((place for place, character in enumerate(text) if character.isalpha()), None)
    if first is None:
        return "en"
    with _detecting:
        return str(_identifier().classify(text[first : first + TELLING])[0])


def document_terms(text: str, language: str) -> SparseVector:
    """The weighted terms of a stored text."""
    vector = _bm25(language).embed_document(normalize("NFC", text))
    return SparseVector(tuple(vector.indices), tuple(vector.values))


def query_terms(text: str, own: str, stored: Iterable[str] = ()) -> SparseVector:
    """The terms of a question, stemmed in its own language and in those of what it may match.

    Its stop words are none in another language. A text that was taken for one by mistake is full of them, and
    they are rare among that language's terms: they would outweigh all that the question asks for.

    Args:
        text: The question.
        own: The code of its language.
        stored: The codes of the languages of the texts.
    """
    text = normalize("NFC", text)
    telling = " ".join(word for word in WORD.findall(text) if _bm25(own).embed_query(word).indices)
    own_terms = _bm25(own).embed_query(text).indices
    others = (_bm25(language).embed_query(telling).indices for language in stored if language != own)
    indices = {*own_terms, *chain.from_iterable(others)}
    return SparseVector(tuple(sorted(indices)), (1.0,) * len(indices))


@cache
def _bm25(language: str) -> edge.Bm25:
    if language in STEMMED:
        config = edge.Bm25Config(language=STEMMED[language], avg_len=60, ascii_folding=True)
    else:
        config = edge.Bm25Config(tokenizer=edge.TokenizerType.Multilingual, avg_len=60)
    return edge.Bm25(config)


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages([*STEMMED, *UNSTEMMED])
    return identifier
