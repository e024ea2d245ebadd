"""Text extraction from typical files, and error messages for files without text."""

import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from io import BytesIO
from pathlib import Path
from time import monotonic

import pytest
from openpyxl import Workbook

from cognition.documents import isolation
from cognition.documents.extraction import Extracted, UnreadableFile, extract
from cognition.documents.file_type import Kind, kind_of
from cognition.documents.zip_limits import MAX_MARKUP, MAX_PARTS
from tests.unit.documents.samples import STAMP, archive, docx, epub, pdf, pptx, xlsx

Put = Callable[[str, bytes], Path]

NO_PARTS = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def read(path: Path) -> tuple[str, Extracted]:
    into = path.with_suffix(".out")
    extracted = extract(path, kind_of(path), into)
    text = into.read_text(encoding="utf-8")
    assert (extracted.chars, extracted.size) == (len(text), into.stat().st_size)
    return text, extracted


def error_of(path: Path) -> str:
    with pytest.raises(UnreadableFile) as raised:
        extract(path, kind_of(path), path.with_suffix(".out"))
    return str(raised.value)


def test_word_becomes_markdown(put: Put) -> None:
    text, extracted = read(put("report.docx", docx("Report", ["Hello world.", "Über café"])))
    assert text == "# Report\n\nHello world.\n\nÜber café"
    assert extracted.text


def test_slides_are_numbered(put: Put) -> None:
    text, _ = read(put("talk.pptx", pptx("Bridges", "The pier has moved.")))
    assert text.startswith("## Slide 1: Bridges\n")
    assert "The pier has moved." in text


def test_a_workbook_keeps_numbers_dates_and_empty_cells(put: Put) -> None:
    rows = [["id", "note", "when"], [1, None, datetime(2026, 3, 1)], [], [2.5, "a | b\nc", True, None]]
    text, _ = read(put("data.xlsx", xlsx({"Prices": rows, "Empty": [], "Other": [["x"]]})))
    assert "## Prices\n\n| id | note | when |\n| --- | --- | --- |\n| 1 |  | 2026-03-01 |\n" in text
    assert "| 2.5 | a \\| b c | True |\n" in text
    assert text.endswith("## Other\n\n| x |\n| --- |\n\n")


def test_a_book_and_a_web_page_become_markdown(put: Put) -> None:
    text, _ = read(put("book.epub", epub("Tea", ["A dark night.", "The end."])))
    assert text == "**Title:** Tea\n\n# Chapter 0\n\nA dark night.\n\n# Chapter 1\n\nThe end."
    html = "<html><script>x()</script><h1>Thé</h1><p>Déjà <b>bu</b></p></html>".encode("cp1252")
    assert read(put("page.html", html))[0] == "# Thé\n\nDéjà **bu**"


def test_a_pdf_is_read_page_by_page_and_names_the_pages_without_text(put: Put) -> None:
    text, extracted = read(put("a.pdf", pdf(["First page\nsecond line", "", "Café"])))
    assert text == "## Page 1\n\nFirst page\nsecond line\n\n## Page 3\n\nCafé\n\n"
    assert (extracted.text, extracted.pages, extracted.missing) == (True, 3, (2,))


def test_p61_a_pdf_without_text_is_left_to_a_model_that_sees(put: Put) -> None:
    text, extracted = read(put("scan.pdf", pdf(["", ""])))
    assert (text, extracted.text, extracted.missing) == ("", False, (1, 2))


def test_p61_a_stamp_on_a_scan_is_not_its_text(put: Put) -> None:
    path = put("scan.pdf", pdf([STAMP, "A letter with a few words.", STAMP]))
    text, extracted = read(path)
    assert text.count(STAMP) == 2, "kept until a model has read the page"
    assert extracted.missing == (1, 3)
    into = path.with_suffix(".out")
    assert extract(path, kind_of(path), into, {1: "The contract.", 3: ""}).missing == ()
    assert into.read_text() == "The contract.## Page 2\n\nA letter with a few words.\n\n"


def test_a_page_with_nothing_on_it_is_no_scan(put: Put) -> None:
    text, extracted = read(put("a.pdf", pdf([None, "First.", None, "", None])))
    assert text == "## Page 2\n\nFirst.\n\n"
    assert (extracted.pages, extracted.missing) == (5, (4,))


def test_what_a_model_read_stands_in_the_place_of_its_page(put: Put) -> None:
    path = put("a.pdf", pdf(["First.", "", "Third.", "", ""]))
    into = path.with_suffix(".out")
    transcribed = {1: "not asked for", 2: "## Page 2\n\nSecond \ud83d.\n\n", 5: ""}
    extracted = extract(path, kind_of(path), into, transcribed)
    text = "## Page 1\n\nFirst.\n\n## Page 2\n\nSecond ?.\n\n## Page 3\n\nThird.\n\n"
    assert into.read_text() == text
    assert extracted.missing == (4,)


def test_pages_of_a_pdf_are_a_pdf(put: Put) -> None:
    path = put("a.pdf", pdf(["First.", "Second.", "Third."]))
    pages = put("pages.pdf", isolation.extract_pages(path, [1, 3], 1 << 20))
    assert read(pages)[0] == "## Page 1\n\nFirst.\n\n## Page 2\n\nThird.\n\n"
    with pytest.raises(
        UnreadableFile, match=r"^The pages take 0 MiB; the limit for a model request is 0 MiB"
    ):
        isolation.extract_pages(path, [1, 3], 100)
    with pytest.raises(UnreadableFile, match=r"'b\.pdf' is damaged"):
        isolation.extract_pages(put("b.pdf", b"%PDF-1.7"), [1], 100)


def test_pdfs_read_at_once_keep_their_pages(put: Put) -> None:
    paths = [put(f"{n}.pdf", pdf([f"file {n} page {p}" for p in range(30)])) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for number, (text, _) in enumerate(pool.map(read, paths)):
            assert [line for line in text.splitlines() if line.startswith("file")] == [
                f"file {number} page {page}" for page in range(30)
            ]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.pdf", pdf(["secret"], encrypted=True), "'a.pdf' is protected by a password. Save a copy without"),
        ("a.pdf", b"%PDF-1.4\nnothing", "'a.pdf' is damaged (Failed to load document"),
        ("a.docx", docx("Tea", ["Brew."])[:900], "'a.docx' is damaged (its ZIP directory is"),
        ("a.docx", b"PK\x03\x04" + bytes(range(256)) * 4, "'a.docx' is damaged (its ZIP directory is"),
        ("a.docx", archive({"word/document.xml": "<w:document"}), "'a.docx' is damaged"),
        ("a.xlsx", archive({"xl/workbook.xml": "<workbook"}), "'a.xlsx' is damaged"),
        (
            "a.xlsx",
            archive({"xl/workbook.xml": "<workbook/>", "[Content_Types].xml": NO_PARTS}),
            "'a.xlsx' is damaged (File contains no valid workbook part)",
        ),
        ("a.pptx", archive({"ppt/presentation.xml": "<"}), "'a.pptx' is damaged"),
        ("a.epub", archive({"mimetype": "application/epub+zip"}), "'a.epub' is damaged"),
        ("a.txt", b"", "'a.txt' is empty. Check that it was saved"),
        (
            "a.txt",
            bytes(range(256)) * 40,
            "'a.txt' is of type application/octet-stream, which contains no text",
        ),
        ("a.zip", archive({"a.txt": "x"}), "'a.zip' is an archive, and archives are not unpacked."),
        (
            "a.doc",
            bytes.fromhex("d0cf11e0a1b11ae1") + bytes(999),
            "'a.doc' is in a pre-2007 Office format.",
        ),
        (
            "a.docx",
            bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"),
            "'a.docx' is protected by a password.",
        ),
    ],
)
def test_p61_what_cannot_be_read_gets_a_sentence(put: Put, name: str, content: bytes, sentence: str) -> None:
    assert error_of(put(name, content)).startswith(sentence)


def test_p61_a_zip_bomb_is_not_opened(put: Put) -> None:
    markup = docx("Tea", ["x"], more={"word/more.xml": bytes(MAX_MARKUP)})
    assert len(markup) < 100_000
    assert "'a.docx' unpacks to 32 MiB in 6 parts, 32 MiB of it markup" in error_of(put("a.docx", markup))
    for disguised in ("word/_rels/more.rels", "word/media/more.png"):
        markup = docx("Tea", ["x"], more={disguised: bytes(MAX_MARKUP)})
        assert "32 MiB of it markup" in error_of(put("c.docx", markup))
    parts = docx("Tea", ["x"], more={f"word/{number}.bin": b"" for number in range(MAX_PARTS)})
    assert f"in {MAX_PARTS + 5} parts" in error_of(put("b.docx", parts))


def test_p61_a_document_that_takes_for_ever_is_given_up(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "TIMEOUT", 1.0)
    path = put("long.docx", docx("Tea", ["x"] * 40_000))
    assert error_of(path).startswith("Reading 'long.docx' took longer than 1 seconds. Split it")


def corners(rows: int) -> bytes:
    """Return a workbook with values only in its first cell and in the last column of its last row."""
    book = Workbook()
    book.active["A1"] = "first"
    book.active.cell(rows, 16_384, "last")
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_p61_a_workbook_with_an_encrypted_part_is_damaged(put: Put) -> None:
    content = bytearray(xlsx({"Tea": [["x"]]}))
    with zipfile.ZipFile(BytesIO(content)) as book:
        begin = book.getinfo("[Content_Types].xml").header_offset
        directory = book.start_dir
    listed = content.index(b"[Content_Types].xml", directory) - 46
    content[begin + 6] |= 1  # the encryption flag, in the part's header and in the directory
    content[listed + 8] |= 1
    assert error_of(put("a.xlsx", bytes(content))).startswith(
        "'a.xlsx' is damaged (File '[Content_Types].xml' is"
    )


def test_p61_a_workbook_is_as_long_as_what_is_in_it(put: Put) -> None:
    began = monotonic()
    text, _ = read(put("a.xlsx", corners(1_048_576)))
    assert text == f"## Sheet\n\n| first |\n| --- |\n| {' | ' * 16_383}last |\n\n"
    assert monotonic() - began < 20


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("a.xlsx", xlsx({"Tea": [["x"]]}), "save it as PDF or text."),
        ("a.pdf", pdf(["tea"]), "save it as text."),
    ],
    ids=["workbook", "PDF"],
)
def test_p61_a_file_of_pages_or_rows_that_takes_for_ever_is_given_up(
    put: Put, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, hint: str
) -> None:
    monkeypatch.setattr(isolation, "TIMEOUT", 0.01)
    message = error_of(put(name, content))
    assert message == f"Reading {name!r} took longer than 0 seconds. Split it, or {hint}"


def test_p61_a_file_over_the_limit_says_the_limit(put: Put) -> None:
    path = put("a.html", b"<html>")
    with path.open("r+b") as file:
        file.truncate(MAX_MARKUP + 1)
    with pytest.raises(UnreadableFile, match="the limit for web pages is 32 MiB"):
        extract(path, Kind("document", "text/html", "html"), path.with_suffix(".out"))


@pytest.mark.filterwarnings("ignore:HTML document is too deeply nested")
def test_p61_deep_nesting_is_read(put: Put) -> None:
    text, _ = read(put("a.html", b"<html>" + b"<div>" * 20_000 + b"tea" + b"</div>" * 20_000))
    assert "tea" in text


def test_p61_memory_does_not_depend_on_the_size_of_a_text(put: Put) -> None:
    path = put("a.log", "2026-01-01 INFO déjà vu, request done\n".encode() * 1_000_000)
    kind = kind_of(path)
    tracemalloc.start()
    extracted = extract(path, kind, path.with_suffix(".out"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert extracted.size > 39_000_000
    assert peak < 20_000_000


def test_importing_the_package_loads_no_reader() -> None:
    code = (
        "import sys, cognition.documents.extraction, cognition.documents.chunking; "
        "print({'markitdown', 'magika', 'pypdfium2', 'openpyxl', 'onnxruntime'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "set()"
