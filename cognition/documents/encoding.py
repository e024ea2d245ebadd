"""Detection of text encodings, and streaming of text files."""

import codecs
from collections.abc import Iterator
from io import IncrementalNewlineDecoder
from pathlib import Path
from typing import Final

from charset_normalizer import from_bytes

from cognition.text.language import detect_language

BLOCK: Final = 1 << 20
"""Bytes to read at a time."""
SAMPLE: Final = 1 << 16
"""Bytes to examine for detection."""

BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, because it starts with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN: Final = frozenset({"da", "de", "en", "es", "fi", "fr", "it", "nl", "no", "pt", "sv"})
"""Languages written in Windows-1252, which detectors often confuse with similar encodings."""

CONTROL: Final = bytes({*range(32), 127} - {*b"\t\n\v\f\r\b\x1b"})
MAX_CONTROL_SHARE: Final = 0.05
"""Maximum share of control characters in a text; not zero, because logs can contain NUL after a crash."""


def encoding_of(path: Path) -> str | None:
    """Detect the encoding of a text file. Return its Python name, or None if the file is not text.

    Examines the start of the file and its first non-ASCII part, wherever that is.
    """
    sample = _sample(path)
    for mark, name in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return name
    utf16 = _unmarked_utf16(sample)
    if utf16:
        return utf16
    if len(sample.translate(None, CONTROL)) < len(sample) * (1 - MAX_CONTROL_SHARE):
        return None
    return "utf-8" if _mostly_utf8(sample) else _guess(sample)


def read_text(path: Path, encoding: str) -> Iterator[str]:
    """Yield the text of a file in pieces of about 1 MiB, without its byte order mark and with Unix line ends.

    In a UTF-8 file, invalid bytes are decoded as Windows-1252, because files can mix the two.
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


def _unmarked_utf16(sample: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark, in which many of every other byte are NUL."""
    half = max(1, len(sample) // 2)
    if sample[1::2].count(0) > half * 0.4 and sample[::2].count(0) < half * 0.05:
        return "utf-16-le"
    if sample[::2].count(0) > half * 0.4 and sample[1::2].count(0) < half * 0.05:
        return "utf-16-be"
    return None


def _mostly_utf8(sample: bytes) -> bool:
    """Return True if most of the non-ASCII characters are valid UTF-8."""
    text = sample.decode("utf-8", "replace")
    invalid = text.count("\ufffd")
    return invalid <= 1 or invalid < sum(not character.isascii() for character in text) / 2


def _guess(sample: bytes) -> str:
    non_ascii_lines = b"\n".join(line for line in sample.split(b"\n") if not line.isascii())
    best = from_bytes(non_ascii_lines).best()
    if best is None or detect_language(str(best)) in WESTERN:
        return "cp1252"
    return best.encoding
