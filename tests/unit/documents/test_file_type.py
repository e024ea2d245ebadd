"""Detection of file types, whatever the file is called."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA

import pytest

from cognition.documents.file_type import kind_of
from tests.unit.documents.samples import archive, docx, epub, pdf, pptx, xlsx

Put = Callable[[str, bytes], Path]

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452") + bytes(60)
WAV = b"RIFF\x24\0\0\0WAVEfmt " + bytes(40)
MP4 = b"\0\0\0\x18ftypisom\0\0\x02\0isomiso2" + bytes(50)
HTML = b"<!DOCTYPE html><html><body><h1>Tea</h1><p>Brew it.</p></body></html>"


@pytest.mark.parametrize(
    ("content", "resource_type", "label"),
    [
        (pdf(["tea"]), "document", "pdf"),
        (docx("Tea", ["Brew it."]), "document", "docx"),
        (pptx("Tea", "Brew it."), "document", "pptx"),
        (xlsx({"Tea": [[1]]}), "document", "xlsx"),
        (epub("Tea", ["Brew it."]), "document", "epub"),
        (HTML, "document", "html"),
        (PNG, "image", "png"),
        (WAV, "audio", "wav"),
        (MP4, "video", "mp4"),
        (archive({"tea.txt": "Brew it."}), "binary", "zip"),
        (gzip.compress(b"tea"), "binary", "gz"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2_000), "binary", "ole"),
        (bytes(range(256)) * 40, "binary", "unknown"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("name", ["tea.txt", "tea.docx", "tea"])
def test_p61_the_name_does_not_decide_what_is_no_text(
    put: Put, name: str, content: bytes, resource_type: str, label: str
) -> None:
    kind = kind_of(put(name, content))
    assert (kind.resource_type, kind.label) == (resource_type, label)
    assert "/" in kind.mime


@pytest.mark.parametrize(
    ("name", "content", "label", "mime"),
    [
        ("notes.md", "Tea\n", "markdown", "text/markdown"),
        (
            "notes",
            "# Tea\n\n- green\n- black\n\n## Brewing\n\nSee [here](x.md).\n",
            "markdown",
            "text/markdown",
        ),
        ("server.log", "2026-01-01 00:00:01,123 INFO started\n" * 40, "log", "text/plain"),
        ("notes.txt", "Le thé est prêt.\n", "txt", "text/plain"),
        ("table.csv", "name,value\ntea,1\n", "csv", "text/csv"),
        ("tea.txt", '{"tea": [1, 2, 3], "green": {"leaf": "yes"}}\n' * 9, "jsonl", "application/json"),
        ("tea.txt", "import os\n\n\ndef brew(x):\n    return os.environ[x]\n" * 5, "python", "text/x-python"),
        ("README.md", "<h1>Tea</h1>\n<p align=center><img src=x></p>\n" * 9, "markdown", "text/markdown"),
        ("about.txt", "A file that begins with %PDF-1.4 is one.\n", "txt", "text/plain"),
        ("empty.txt", "", "txt", "text/plain"),
    ],
)
def test_among_texts_the_name_breaks_ties(put: Put, name: str, content: str, label: str, mime: str) -> None:
    kind = kind_of(put(name, content.encode()))
    assert (kind.resource_type, kind.label, kind.mime) == ("text", label, mime)


def test_p61_random_bytes_named_txt_are_no_text(put: Put) -> None:
    assert kind_of(put("a.txt", os.urandom(9_000))).resource_type == "binary"


def test_p61_a_damaged_office_file_is_still_known_for_one(put: Put) -> None:
    assert kind_of(put("a", docx("Tea", ["Brew it."])[:900])).label == "docx"


@pytest.mark.parametrize("packing", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_p61_an_archive_with_a_damaged_part_is_an_archive(put: Put, packing: int) -> None:
    content = archive({"mimetype": "application/epub+zip" * 50}, packing)
    begin = content.index(b"mimetype") + len("mimetype")
    for noise in (b"\xff" * 12, b"\x00" * 12, b"\x03" * 12):
        damaged = content[:begin] + noise + content[begin + len(noise) :]
        assert kind_of(put("a.epub", damaged)).label == "zip"
