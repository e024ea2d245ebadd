"""The lexical side of a search: BM25 vectors, stemmed in the language of each text."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import Final
from unicodedata import normalize

import qdrant_edge as edge

from cognition.text.language import STEMMED
from cognition.vectors import SparseVector

WORD: Final = re.compile(r"\w+")


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
