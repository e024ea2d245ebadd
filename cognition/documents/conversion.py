"""MarkItDown in a process of its own, which ends when its time is over: some documents take it hours.

The interpreter's lock stays free meanwhile, and what the document took of memory goes with the process.
"""

import logging
import os
import subprocess
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from threading import Timer
from typing import Final

from cognition.documents.unreadable import Unreadable, damaged

logger = logging.getLogger(__name__)

LONGEST: Final = 180.0
"""Seconds that a document may take; one of 300 pages takes ten."""

MOST_MEMORY: Final = 2 << 30
"""Bytes that a document may take, 60 times its markup where there is little text between the tags."""

NOT_UNDERSTOOD: Final = 3
"""What the process ends with when the document is damaged; it says what is wrong."""

OUT_OF_MEMORY: Final = (4, -9)
"""What the process ends with when it gets no more memory, and when the system takes away what it has."""

SOURCES: Final = Path(__file__).resolve().parents[2]
"""The folder that holds the package, installed or not."""

LOGGED: Final = 2_000
SHOWN: Final = 120
"""Characters of what the process said last, to those who run this and to those who gave the document."""


def converted(data: bytes, name: str, label: str) -> str:
    """A document as Markdown. Blocks for a second at least, and for `LONGEST` at most.

    Args:
        data: The document.
        name: What people call it.
        label: What it is: `docx`, `pptx`, `epub`, or `html` in UTF-8.

    Raises:
        Unreadable: It is damaged, or takes too long or too much memory.
    """
    # -P: what lies in the working directory is nobody's module
    command = [sys.executable, "-P", "-m", __name__, label]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=LONGEST, check=False, env=_environment()
        )
    except subprocess.TimeoutExpired as error:
        raise too_slow(name, LONGEST) from error
    if done.returncode:
        raise _refusal(name, done.returncode, done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8", "replace")


def too_slow(name: str, seconds: float) -> Unreadable:
    """A document that was given up after so many seconds."""
    return Unreadable(
        f"{name!r} was still being read after {seconds:.0f} seconds. Split it, or save it as PDF or text."
    )


def _environment() -> dict[str, str]:
    """Ours, with this package found from every working directory."""
    paths = [str(SOURCES), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _refusal(name: str, code: int, said: str) -> Unreadable:
    last = said.splitlines()[-1] if said else f"it ended with code {code}"
    if code == NOT_UNDERSTOOD:
        return damaged(name, last)
    logger.error("converting %r ended with code %d: %s", name, code, said[-LOGGED:])
    if code in OUT_OF_MEMORY or "MemoryError" in said:
        return Unreadable(f"{name!r} takes too much memory to read. Split it, or save it as PDF or text.")
    return Unreadable(f"{name!r} was not read ({last[:SHOWN]}). Save it anew, or as PDF or text.")


def main(label: str) -> None:
    """Convert what comes in, in the process, which ends in time even when nobody waits for it any more."""
    alarm = Timer(LONGEST, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    from markitdown import (  # noqa: PLC0415 - takes most of a second to load
        DocumentConverter,
        FileConversionException,
        MarkItDown,
        StreamInfo,
    )
    from markitdown.converters import (  # noqa: PLC0415
        DocxConverter,
        EpubConverter,
        HtmlConverter,
        PptxConverter,
    )

    readers: dict[str, type[DocumentConverter]] = {
        "docx": DocxConverter,
        "epub": EpubConverter,
        "html": HtmlConverter,
        "pptx": PptxConverter,
    }
    # the one reader that is meant: no network, no archives, no guessing
    converter = MarkItDown(enable_builtins=False)
    converter.register_converter(readers[label]())
    _bound_memory()
    info = StreamInfo(extension=f".{label}", charset="utf-8")
    try:
        markdown = converter.convert_stream(BytesIO(sys.stdin.buffer.read()), stream_info=info).markdown
    except FileConversionException as error:
        causes = [attempt.exc_info[1] for attempt in error.attempts or () if attempt.exc_info]
        cause = causes[-1] if causes else error
        if isinstance(cause, MemoryError):
            os._exit(OUT_OF_MEMORY[0])  # a proper end would need some
        said = str(cause).strip().splitlines() or [type(cause).__name__]
        sys.stderr.write(f"\n{said[0]}")
        sys.exit(NOT_UNDERSTOOD)
    sys.stdout.buffer.write(markdown.encode("utf-8", "replace"))


def _bound_memory() -> None:
    """Allow the document `MOST_MEMORY` beside what is loaded, whose threads reserve more with every core."""
    if sys.platform == "linux":  # Windows has no such limit, and macOS refuses it
        import resource  # noqa: PLC0415

        with suppress(OSError, ValueError):  # a lower limit holds already
            loaded = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (loaded + MOST_MEMORY, loaded + MOST_MEMORY))


if __name__ == "__main__":
    main(*sys.argv[1:])
