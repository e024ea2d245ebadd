"""BM25 vectors for lexical search, stemmed in the language of each text."""

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
    """Return the weighted terms of a text to store."""
    vector = _bm25(language).embed_document(normalize("NFC", text))
    return SparseVector(tuple(vector.indices), tuple(vector.values))


def query_terms(text: str, own: str, stored: Iterable[str] = ()) -> SparseVector:
    """Return the terms of a query, stemmed in its own language and in the languages of the stored texts.

    The query's stop words are removed before stemming it in another language. A text stored under the wrong
    language is full of them, and as rare terms of that language they would outweigh the rest of the query.

    Args:
        text: The query.
        own: The language code of the query.
        stored: The language codes of the stored texts.
    """
    text = normalize("NFC", text)
    content_words = " ".join(word for word in WORD.findall(text) if _bm25(own).embed_query(word).indices)
    own_terms = _bm25(own).embed_query(text).indices
    others = (_bm25(language).embed_query(content_words).indices for language in stored if language != own)
    indices = {*own_terms, *chain.from_iterable(others)}
    return SparseVector(tuple(sorted(indices)), (1.0,) * len(indices))


@cache
def _bm25(language: str) -> edge.Bm25:
    if language in STEMMED:
        config = edge.Bm25Config(language=STEMMED[language], avg_len=60, ascii_folding=True)
    else:
        config = edge.Bm25Config(tokenizer=edge.TokenizerType.Multilingual, avg_len=60)
    return edge.Bm25(config)
