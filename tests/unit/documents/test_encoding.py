# ruff: noqa: RUF001 - Cyrillic and Greek are intended
"""Detection of encodings, and reading of text files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cognition.documents.encoding import BLOCK, encoding_of, read_text

Put = Callable[[str, bytes], Path]

FRENCH = "Déjà vu à l'école, où les élèves reçoivent un prix « 20 € » — fin.\n"
RUSSIAN = "Все люди рождаются свободными и равными в своём достоинстве и правах.\n"
SAMPLES = [
    (FRENCH, "utf-8"),
    (FRENCH, "utf-8-sig"),
    (FRENCH, "utf-16"),
    (FRENCH, "utf-16-le"),
    (FRENCH, "utf-16-be"),
    (FRENCH, "utf-32"),
    (FRENCH, "cp1252"),
    (FRENCH.replace("€", "F").replace("—", "-"), "latin-1"),
    ("Für die Größe der Tür zahlen wir übermäßig viel.\n", "latin-1"),
    ("Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.\n", "cp1250"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8-r"),
    ("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.\n", "cp1253"),
    ("すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。\n", "shift_jis"),
    ("人人生而自由、在尊严和权利上一律平等。他们赋有理性和良心。\n", "gb18030"),
    ("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.\n", "euc-kr"),
]


def read(path: Path) -> str:
    encoding = encoding_of(path)
    assert encoding is not None
    return "".join(read_text(path, encoding))


@pytest.mark.parametrize(("text", "encoding"), SAMPLES, ids=[name for _, name in SAMPLES])
@pytest.mark.parametrize("times", [1, 40])
def test_p61_a_text_is_read_in_its_encoding(put: Put, text: str, encoding: str, times: int) -> None:
    assert read(put("a.txt", (text * times).encode(encoding))) == text * times


def test_p61_encodings_mixed_in_one_file_are_each_read(put: Put) -> None:
    content = (FRENCH * 9).encode() + FRENCH.encode("cp1252") + (FRENCH * 9).encode()
    assert read(put("a.log", content)) == FRENCH * 19


def test_p61_accents_far_into_a_file_decide_its_encoding(put: Put) -> None:
    ascii_ = "only ascii here\n" * (3 * BLOCK // 16)
    assert read(put("a.txt", f"{ascii_}{RUSSIAN}".encode("cp1251"))) == ascii_ + RUSSIAN


def test_p61_a_character_at_the_edge_of_a_block_stays_whole(put: Put) -> None:
    for shift in range(4):
        text = "x" * (BLOCK - shift) + "é😀\r\n" + "y" * 10
        assert read(put("a.txt", text.encode())) == text.replace("\r\n", "\n")


@pytest.mark.parametrize("content", [b"\0" * 999, bytes(range(256)) * 9, b"\x7fELF" + bytes(99)])
def test_p61_binaries_have_no_encoding(put: Put, content: bytes) -> None:
    assert encoding_of(put("a.txt", content)) is None


def test_p52_some_nul_among_lines_is_still_a_text(put: Put) -> None:
    text = "a line of a log\n\0\0" * 3 + "a line of a log\n" * 99
    assert read(put("a.log", text.encode())) == text


def test_p61_nothing_in_a_file_is_an_empty_text(put: Put) -> None:
    assert read(put("a.txt", b"")) == ""
