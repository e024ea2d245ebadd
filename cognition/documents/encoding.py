"""In which encoding a file's text is, and reading it in pieces whatever its size."""

import codecs
from collections.abc import Iterator
from io import IncrementalNewlineDecoder
from pathlib import Path
from typing import Final

from charset_normalizer import from_bytes

from cognition.text.language import detect_language

BLOCK: Final = 1 << 20
SAMPLE: Final = 1 << 16

MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN: Final = frozenset({"da", "de", "en", "es", "fi", "fr", "it", "nl", "no", "pt", "sv"})
"""Languages that Windows-1252 writes; detectors take its accents for those of its neighbours."""

CONTROL: Final = bytes({*range(32), 127} - {*b"\t\n\v\f\r\b\x1b"})
MOST_CONTROL: Final = 0.05
"""Share of control characters beyond which bytes are no text; logs of a crash hold some NUL."""


def encoding_of(path: Path) -> str | None:
    """The encoding of a text file by its content, as Python names it; None when it is no text.

    Looks at the beginning, and at the first place that is not ASCII, however far in that is.
    """
    sample = _sample(path)
    for mark, name in MARKS:
        if sample.startswith(mark):
            return name
    wide = _wide(sample)
    if wide:
        return wide
    if len(sample.translate(None, CONTROL)) < len(sample) * (1 - MOST_CONTROL):
        return None
    return "utf-8" if _mostly_utf8(sample) else _guess(sample)


def read_text(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file in pieces of about a megabyte, without its mark and with the line ends of Unix.

    In a file that mixes encodings, what is no UTF-8 is read as Windows-1252.
    """
    errors = "cognition-western" if encoding.startswith("utf-8") else "replace"
    decoder = IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(errors), translate=True)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def _western(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("cognition-western", _western)


def _sample(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(SAMPLE)
        block = head
        while block.isascii() and block:
            block = file.read(BLOCK)
    first = next((at for at in range(0, len(block), SAMPLE) if not block[at : at + SAMPLE].isascii()), 0)
    return head if block == head else head + block[first : first + SAMPLE]


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of most of it is NUL."""
    half = max(1, len(sample) // 2)
    if sample[1::2].count(0) > half * 0.4 and sample[::2].count(0) < half * 0.05:
        return "utf-16-le"
    if sample[::2].count(0) > half * 0.4 and sample[1::2].count(0) < half * 0.05:
        return "utf-16-be"
    return None


def _mostly_utf8(sample: bytes) -> bool:
    """Whether more of what is not ASCII is UTF-8 than is not."""
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return wrong <= 1 or wrong < sum(not character.isascii() for character in text) / 2


def _guess(sample: bytes) -> str:
    telling = b"\n".join(line for line in sample.split(b"\n") if not line.isascii())
    best = from_bytes(telling).best()
    if best is None or detect_language(str(best)) in WESTERN:
        return "cp1252"
    return best.encoding
