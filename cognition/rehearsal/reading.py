"""Rehearsed reading: summaries and answers are quotations from the files."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import Final, NamedTuple

from cognition.rehearsal.language import is_french
from cognition.rehearsal.script import Request

PASSAGES: Final = 3
"""Maximum number of passages quoted in an answer."""

SENTENCE_CHARACTERS: Final = 240
"""Maximum characters of a sentence in a summary."""

STEM_LETTERS: Final = 4
"""Number of initial letters by which words are compared, which ignores most inflections."""


class Lines(NamedTuple):
    """The texts around the quotations in one language."""

    seen: str
    fraction: str
    """A replacement for `2 of 9 passages`, with groups for the two numbers and the noun."""
    unseen: str
    says: str
    found: str
    lines: str


ENGLISH: Final = Lines(
    seen="Sentences from {name} ({seen}):",
    fraction=r"\1 of \2 \3",
    unseen="**Not seen:** everything between these passages.",
    says="{name} says:",
    found="From the passages found:",
    lines="lines {lines}",
)
FRENCH: Final = Lines(
    seen="Phrases tirées de {name} ({seen}) :",
    fraction=r"\1 \3 sur \2",
    unseen="**Non lu :** tout ce qui se trouve entre ces passages.",
    says="D'après {name} :",
    found="D'après les passages trouvés :",
    lines="lignes {lines}",
)


@dataclass(frozen=True)
class Block:
    """A block of data in a prompt or in the result of a tool."""

    attributes: dict[str, str]
    body: str


def blocks(tag: str, text: str) -> list[Block]:
    """Return the blocks of a text with the given tag, their contents unescaped."""
    matches = re.findall(rf"<{tag}\b([^>]*)>\n(.*?)\n</{tag}>", text, re.DOTALL)
    return [
        Block({k: unescape(v) for k, v in re.findall(r'(\w+)="([^"]*)"', head)}, unescape(body))
        for head, body in matches
    ]


def summarize(request: Request) -> str:
    """Return a summary of the excerpts in a request; empty if it has none."""
    if not (sources := blocks("excerpts", request.texts[-1])):
        return ""
    source = sources[0]
    excerpts = source.body.split("\n\n[…]\n\n")
    words = FRENCH if is_french(source.body) else ENGLISH
    seen = re.sub(r"(\S+) of (\S+) (passages?)", words.fraction, source.attributes["seen"])
    head = words.seen.format(name=source.attributes["filename"], seen=seen)
    return "\n".join([head, *(f"- {first_sentence(text)}" for text in excerpts), words.unseen])


def first_sentence(text: str) -> str:
    """Return the first sentence of a passage, without the markup of headings and lists."""
    line = " ".join(re.sub(r"^[#>*\-\s|]+", "", text, flags=re.MULTILINE).split())
    match = re.match(r".+?[.!?…](?=\s|$)", line)
    sentence = match[0] if match else line
    if len(sentence) <= SENTENCE_CHARACTERS:
        return sentence
    return f"{sentence[: SENTENCE_CHARACTERS - 1]}…"


def answer_from_files(request: Request, question: str) -> str:
    """Answer a question with paragraphs of the files shown in full in the prompt; empty if none fit."""
    words = FRENCH if is_french(question) else ENGLISH
    files = blocks("smart_context", "\n".join(request.texts))
    whole = [file for file in files if file.attributes["mode"] == "put_in_context"]
    named = [file.attributes["filename"] for file in whole if file.attributes["filename"] in question]
    for name in named:
        question = question.replace(name, "")
    # Weighted across all files: a word that is rare in one file may be common in another.
    passages = [passage for file in whole for passage in _passages(file.body)]
    weights = dict(zip(passages, _weights(passages, question), strict=True))

    def rank(file: Block) -> tuple[bool, float]:
        scores = [weights[passage] for passage in _passages(file.body)]
        return file.attributes["filename"] in named, max(scores, default=0.0)

    for file in sorted(whole, key=rank, reverse=True):
        if quotations := best_passages(file.body, question):
            return "\n\n".join([words.says.format(name=file.attributes["filename"]), *quotations])
    return ""


def searchable_ids(request: Request) -> list[str]:
    """Return the ids of the files that the prompt only summarises, and whose text must be searched."""
    files = blocks("smart_context", "\n".join(request.texts))
    return [f.attributes["source_id"] for f in files if f.attributes["mode"] == "vectorized_sum_up"]


def quote_results(request: Request, results: str) -> str:
    """Answer with the passages that a search of session memory found; empty if it found none."""
    passages = blocks("passage", results)[:PASSAGES]
    if not passages:
        return ""
    question = own_words([text for text in request.texts if text.strip()][-1])
    words = FRENCH if is_french(passages[0].body) else ENGLISH
    return "\n\n".join([words.found, *(_quotation(passage, question, words) for passage in passages)])


def own_words(text: str) -> str:
    """Return a message without the blocks of data added around it."""
    return re.sub(r"<(\w+)[^>]*>.*?</\1>", "", text, flags=re.DOTALL).strip()


def _quotation(passage: Block, question: str, words: Lines) -> str:
    source = [passage.attributes.get("headings", ""), words.lines.format(lines=passage.attributes["lines"])]
    paragraphs = best_passages(passage.body, question) or [passage.body.strip()]
    return "\n\n".join([*paragraphs, f"({', '.join(filter(None, source))})"])


def best_passages(text: str, question: str) -> list[str]:
    """Return up to two paragraphs, with their headings, that share the rarest words with a question."""
    passages = _passages(text)
    weights = _weights(passages, question)
    if max(weights, default=0.0) == 0:
        return []
    best = sorted(range(len(passages)), key=lambda i: -weights[i])[:2]
    return [passages[i] for i in sorted(best) if weights[i] > max(weights) / 2]


def _passages(text: str) -> list[str]:
    """Split a text into paragraphs; each heading belongs to the paragraph below it."""
    parts = re.split(r"\n\s*\n(?!\s*$)", re.sub(r"^(#.*)\n\s*\n", r"\1\n", text, flags=re.MULTILINE))
    return [part.strip() for part in parts if part.strip()]


def _weights(passages: Sequence[str], question: str) -> list[float]:
    """Score passages by the words they share with a question; rarer words count more."""
    stem_sets = [_stems(passage) for passage in passages]
    counts = Counter(stem for stems in stem_sets for stem in stems)
    query = _stems(question)
    return [
        sum(math.log(1 + len(passages) / counts[stem]) for stem in query & stems) if len(stems) > 1 else 0.0
        for stems in stem_sets
    ]


def _stems(text: str) -> set[str]:
    """Return the first letters of the longer words (four letters or more) and of numbers."""
    words: Sequence[str] = re.findall(r"\w+", text.lower())
    return {word[:STEM_LETTERS] for word in words if len(word) > 3 or word.isdigit()}
