"""Files in the keyless rehearsal: their own sentences are the summary, their own passages the answer."""

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
"""Passages that an answer quotes."""

SENTENCE: Final = 240
"""Characters of a sentence that a summary takes."""

STEM: Final = 4
"""Letters by which words are compared: enough for plurals and conjugations."""


class Lines(NamedTuple):
    """What is said around the quotations, in one language."""

    seen: str
    unseen: str
    says: str
    found: str
    lines: str


ENGLISH: Final = Lines(
    seen="Sentences of {name}, from {seen}:",
    unseen="**Not seen:** everything between these passages.",
    says="{name} says:",
    found="From the passages that were found:",
    lines="lines {lines}",
)
FRENCH: Final = Lines(
    seen="Des phrases de {name}, tirées de {seen} :",
    unseen="**Pas vu :** tout ce qui est entre ces passages.",
    says="{name} dit :",
    found="D'après les passages trouvés :",
    lines="lignes {lines}",
)


@dataclass(frozen=True)
class Block:
    """A block of data in a prompt or in a tool's answer."""

    attributes: dict[str, str]
    body: str


def blocks(tag: str, text: str) -> list[Block]:
    """The blocks of one name in a text, as they were before escaping."""
    found = re.findall(rf"<{tag}\b([^>]*)>\n(.*?)\n</{tag}>", text, re.DOTALL)
    return [
        Block({k: unescape(v) for k, v in re.findall(r'(\w+)="([^"]*)"', head)}, unescape(body))
        for head, body in found
    ]


def summary(request: Request) -> str:
    """A summary of excerpts; empty for a request that holds none."""
    if not (found := blocks("excerpts", request.texts[-1])):
        return ""
    excerpts = found[0].body.split("\n\n[…]\n\n")
    words = FRENCH if is_french(found[0].body) else ENGLISH
    head = words.seen.format(name=found[0].attributes["filename"], seen=found[0].attributes["seen"])
    return "\n".join([head, *(f"- {first_sentence(text)}" for text in excerpts), words.unseen])


def first_sentence(text: str) -> str:
    """The first sentence of a passage, without the marks of a heading or a list."""
    line = " ".join(re.sub(r"^[#>*\-\s|]+", "", text, flags=re.MULTILINE).split())
    sentence = re.match(r".+?[.!?…](?=\s|$)", line)
    told = sentence[0] if sentence else line
    return told if len(told) <= SENTENCE else f"{told[: SENTENCE - 1]}…"


def answer(request: Request, question: str) -> str:
    """What the files that stand whole in the prompt say to a question; empty when they say nothing."""
    words = FRENCH if is_french(question) else ENGLISH
    files = blocks("smart_context", "\n".join(request.texts))
    whole = [file for file in files if file.attributes["mode"] == "put_in_context"]
    named = [file.attributes["filename"] for file in whole if file.attributes["filename"] in question]
    for name in named:
        question = question.replace(name, "")
    # Weighed side by side: what is rare in one file may be in every paragraph of another.
    passages = [passage for file in whole for passage in _passages(file.body)]
    weights = dict(zip(passages, _weights(passages, question), strict=True))

    def rank(file: Block) -> tuple[bool, float]:
        held = [weights[passage] for passage in _passages(file.body)]
        return file.attributes["filename"] in named, max(held, default=0.0)

    for file in sorted(whole, key=rank, reverse=True):
        if told := best_passages(file.body, question):
            return "\n\n".join([words.says.format(name=file.attributes["filename"]), *told])
    return ""


def searchable(request: Request) -> list[str]:
    """The ids of the files in the prompt that are summed up there and searched for the rest."""
    files = blocks("smart_context", "\n".join(request.texts))
    return [f.attributes["source_id"] for f in files if f.attributes["mode"] == "vectorized_sum_up"]


def quoted(request: Request, found: str) -> str:
    """An answer made of what a search of session memory found; empty when it found nothing."""
    passages = blocks("passage", found)[:PASSAGES]
    if not passages:
        return ""
    question = own_words([text for text in request.texts if text.strip()][-1])
    words = FRENCH if is_french(passages[0].body) else ENGLISH
    return "\n\n".join([words.found, *(_quotation(passage, question, words) for passage in passages)])


def own_words(text: str) -> str:
    """A message without the blocks of data that were put around it."""
    return re.sub(r"<(\w+)[^>]*>.*?</\1>", "", text, flags=re.DOTALL).strip()


def _quotation(passage: Block, question: str, words: Lines) -> str:
    place = [passage.attributes.get("headings", ""), words.lines.format(lines=passage.attributes["lines"])]
    said = best_passages(passage.body, question) or [passage.body.strip()]
    return "\n\n".join([*said, f"({', '.join(filter(None, place))})"])


def best_passages(text: str, question: str) -> list[str]:
    """The two paragraphs of a text, with their headings, that share the rarest words with a question."""
    passages = _passages(text)
    weights = _weights(passages, question)
    if max(weights, default=0.0) == 0:
        return []
    best = sorted(range(len(passages)), key=lambda i: -weights[i])[:2]
    return [passages[i] for i in sorted(best) if weights[i] > max(weights) / 2]


def _passages(text: str) -> list[str]:
    """The paragraphs of a text, each heading with the one under it."""
    parts = re.split(r"\n\s*\n(?!\s*$)", re.sub(r"^(#.*)\n\s*\n", r"\1\n", text, flags=re.MULTILINE))
    return [part.strip() for part in parts if part.strip()]


def _weights(passages: Sequence[str], question: str) -> list[float]:
    """How much each passage shares with a question; a word counts the more, the fewer passages hold it."""
    held = [_stems(passage) for passage in passages]
    known = Counter(stem for stems in held for stem in stems)
    asked = _stems(question)
    return [
        sum(math.log(1 + len(passages) / known[stem]) for stem in asked & stems) if len(stems) > 1 else 0.0
        for stems in held
    ]


def _stems(text: str) -> set[str]:
    """The beginnings of the words that mean something: those of four letters and more, and numbers."""
    words: Sequence[str] = re.findall(r"\w+", text.lower())
    return {word[:STEM] for word in words if len(word) > 3 or word.isdigit()}
