"""The process that documents are converted in: what it is let to load, take and say, and who waits for it."""

import asyncio
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest

from cognition.context import BoundContext
from cognition.documents import office
from cognition.documents.conversion import converted
from cognition.documents.unreadable import Unreadable
from cognition.services import Services
from graphs.ingestion import graph

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
"""A library that takes 3 GiB for any document."""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the process loads in the place of MarkItDown."""
    package = tmp_path / "library" / "markitdown"
    package.mkdir(parents=True)
    readers = ("DocxConverter", "EpubConverter", "HtmlConverter", "PptxConverter")
    (package / "converters.py").write_text("".join(f"class {name}: ...\n" for name in readers))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return package / "__init__.py"


def refusal() -> str:
    with pytest.raises(Unreadable) as refused:
        converted(PAGE, "tea.html", "html")
    return str(refused.value)


@pytest.mark.parametrize("own", ["", "elsewhere"])
def test_no_module_of_the_working_directory_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    for name in ("markitdown", "cognition", "logging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded from the working directory')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", own)
    assert converted(PAGE, "tea.html", "html") == "# Tea\n\nBrew it."


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("raise MemoryError", "'tea.html' takes too much memory to read. Split it"),
        ("import os; os.kill(os.getpid(), 9)", "'tea.html' takes too much memory to read. Split it"),
        (
            "raise OSError('no leaves: ' + 'x' * 500)",
            f"'tea.html' was not read (OSError: no leaves: {'x' * 100}",
        ),
        (
            "import os; os.kill(os.getpid(), 11)",
            "'tea.html' was not read (it ended with code -11). Save it anew",
        ),
        ("import os; os._exit(7)", "'tea.html' was not read (it ended with code 7). Save it anew"),
    ],
)
def test_how_a_process_ends_is_said_in_a_sentence_and_logged(
    library: Path, caplog: pytest.LogCaptureFixture, code: str, sentence: str
) -> None:
    library.write_text(code)
    said = refusal()
    assert said.startswith(sentence)
    assert len(said) < 250
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert ("Traceback" in record.getMessage()) == code.startswith("raise")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux only")
def test_a_document_that_takes_too_much_memory_is_given_up(library: Path) -> None:
    library.write_text(GREEDY)
    assert refusal().startswith("'tea.html' takes too much memory to read.")


async def test_slow_documents_leave_the_threads_of_all_others_free(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, both, lock, running, most = Event(), Event(), Lock(), 0, 0

    def slow(data: bytes, name: str, label: str) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if running == 2:
                both.set()
        go_on.wait(30)
        with lock:
            running -= 1
        return data.decode()

    monkeypatch.setattr(office, "converted", slow)
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
    assert [told["status"] for told in report] == ["PUT_IN_CONTEXT"] * 4
    assert most == 2
