"""The process that reads a document: its imports, environment, limits, errors and effect on other threads."""

import asyncio
import logging
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from errno import ENOSPC
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest

from cognition.context import BoundContext
from cognition.documents import extraction
from cognition.documents.errors import UnreadableFile
from cognition.documents.isolation import convert
from cognition.documents.output import Extracted, write
from cognition.services import Services
from graphs.ingestion import graph
from tests.unit.documents.samples import pdf, xlsx

Put = Callable[[str, bytes], Path]

PAGE = b"<html><body><h1>Tea</h1><p>Brew it.</p></body></html>"

GREEDY = """
class MarkItDown:
    def __init__(self, enable_builtins): ...
    def register_converter(self, reader): ...
    def convert_stream(self, stream, stream_info):
        try:
            return bytearray(3 << 30)
        except MemoryError:
            raise FileConversionException from None
class DocumentConverter: ...
class StreamInfo:
    def __init__(self, extension, charset): ...
class Attempt:
    exc_info = (MemoryError, MemoryError(), None)
class FileConversionException(Exception):
    attempts = [Attempt]
"""
"""A stand-in for MarkItDown that allocates 3 GiB for any document."""


PDFIUM = "PdfiumError = OSError\nPdfPage = object"
"""The first lines of a stand-in for PDFium."""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a module that the process loads instead of MarkItDown."""
    package = tmp_path / "library" / "markitdown"
    package.mkdir(parents=True)
    readers = ("DocxConverter", "EpubConverter", "HtmlConverter", "PptxConverter")
    (package / "converters.py").write_text("".join(f"class {name}: ...\n" for name in readers))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return package / "__init__.py"


def test_the_process_is_told_no_secret(
    library: Path, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "sesame")
    library.write_text("import os\nraise RuntimeError(sorted(os.environ))")
    with pytest.raises(UnreadableFile) as raised:
        convert(put("tea.html", PAGE), "html", tmp_path / "into")
    assert "RuntimeError" in str(raised.value)
    assert "GOOGLE" not in str(raised.value)


@pytest.fixture
def pdfium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a module that the process loads instead of PDFium."""
    package = tmp_path / "library" / "pypdfium2"
    package.mkdir(parents=True)
    (package / "raw.py").write_text(
        "FPDF_PAGEOBJ_IMAGE = FPDFPage_CountObjects = FPDFPage_GetAnnotCount = len"
    )
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return package / "__init__.py"


@pytest.fixture
def crashing(pdfium: Path) -> None:
    pdfium.write_text(f"import os\n{PDFIUM}\ndef PdfDocument(path): os.kill(os.getpid(), 11)")


@pytest.fixture
def error_of(put: Put, tmp_path: Path) -> Callable[..., str]:
    def read(name: str = "tea.html", content: bytes = PAGE) -> str:
        with pytest.raises(UnreadableFile) as raised:
            convert(put(name, content), name.rpartition(".")[2], tmp_path / "out")
        return str(raised.value)

    return read


@pytest.mark.parametrize("own", ["", "elsewhere"])
def test_no_module_of_the_working_directory_is_loaded(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    for name in ("markitdown", "cognition", "logging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded from the working directory')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", own)
    convert(put("tea.html", PAGE), "html", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "# Tea\n\nBrew it."


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("raise MemoryError", "'tea.html' takes too much memory to read. Split it"),
        ("import os; os.kill(os.getpid(), 9)", "'tea.html' takes too much memory to read. Split it"),
        (
            "raise OSError('no leaves: ' + 'x' * 500)",
            f"Could not read 'tea.html' (OSError: no leaves: {'x' * 100}",
        ),
        (
            "import os; os.kill(os.getpid(), 11)",
            "Could not read 'tea.html' (exit code -11). Save it again",
        ),
        ("import os; os._exit(7)", "Could not read 'tea.html' (exit code 7). Save it again"),
    ],
)
def test_how_a_process_ends_is_said_in_a_sentence_and_logged(
    library: Path,
    error_of: Callable[..., str],
    caplog: pytest.LogCaptureFixture,
    code: str,
    sentence: str,
) -> None:
    library.write_text(code)
    message = error_of()
    assert message.startswith(sentence)
    assert len(message) < 250
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert ("Traceback" in record.getMessage()) == code.startswith("raise")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux only")
def test_a_document_that_takes_too_much_memory_is_given_up(
    library: Path, error_of: Callable[..., str]
) -> None:
    library.write_text(GREEDY)
    assert error_of().startswith("'tea.html' takes too much memory to read.")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux only")
def test_a_pdf_that_takes_too_much_memory_is_given_up(pdfium: Path, error_of: Callable[..., str]) -> None:
    pdfium.write_text(f"{PDFIUM}\ndef PdfDocument(path): return bytearray(3 << 30)")
    message = error_of("tea.pdf", pdf(["Brew it."]))
    assert message == "'tea.pdf' takes too much memory to read. Split it, or save it as text."


@pytest.mark.usefixtures("crashing")
async def test_p61_a_pdf_that_crashes_its_library_harms_no_other_file(services: Services) -> None:
    files: list[Any] = [{"name": "tea.pdf", "data": pdf(["Brew it."])}, {"name": "tea.html", "data": PAGE}]
    context = BoundContext(user_id="ada", bound=services)
    thread: Any = {"configurable": {"thread_id": "c"}}
    crashed, read = (await graph.ainvoke({"files": files}, thread, context=context))["report"]
    assert crashed["status"] == "INDEXED"
    assert crashed["error"] == (
        "Could not read 'tea.pdf' (exit code -11). Save it again, or save it as text."
    )
    assert read["status"] == "PUT_IN_CONTEXT"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full exists on Linux only")
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.pdf", pdf(["Brew it."])), ("a.html", PAGE), ("a.xlsx", xlsx({"Tea": [["x"]]}))],
    ids=["pdf", "html", "xlsx"],
)
def test_a_full_disk_is_not_taken_for_a_fault_of_the_document(put: Put, name: str, content: bytes) -> None:
    with pytest.raises(OSError, match="No space left on device") as full:
        convert(put(name, content), name.rpartition(".")[2], Path("/dev/full"))
    assert full.value.errno == ENOSPC


async def test_slow_documents_leave_the_threads_of_all_others_free(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, both, lock, running, most = Event(), Event(), Lock(), 0, 0

    def slow(path: Path, label: str, into: Path, transcribed: object) -> Extracted:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if running == 2:
                both.set()
        go_on.wait(30)
        with lock:
            running -= 1
        return write([path.read_text()], path.name, into)

    monkeypatch.setattr(extraction, "convert", slow)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(3))
    files: list[Any] = [{"name": f"{n}.html", "data": PAGE + b"<!-- %d -->" % n} for n in range(4)]
    context = BoundContext(user_id="ada", bound=services)
    thread: Any = {"configurable": {"thread_id": "c"}}
    run = asyncio.create_task(graph.ainvoke({"files": files}, thread, context=context))
    try:
        await asyncio.wait_for(asyncio.to_thread(both.wait, 20), 30)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 10) == "free"
    finally:
        go_on.set()
    report = (await run)["report"]
    assert [entry["status"] for entry in report] == ["PUT_IN_CONTEXT"] * 4
    assert most == 2
