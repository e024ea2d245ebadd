"""The process that reads one document, with limits on memory and time.

`isolation` starts it and reads its output. The process enforces the time limit itself, in case its
parent dies.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Timer
from typing import Final, NoReturn

from cognition.documents.errors import UnreadableFile
from cognition.documents.output import Extracted, write

TIMEOUT: Final = 180.0
"""Seconds that a document may take; one of 300 pages takes about 10."""

MAX_MEMORY: Final = 2 << 30
"""Bytes of memory that a document may take; markup with little text between tags takes 60 times its size."""

UNREADABLE: Final = 3
"""Exit code for an `UnreadableFile`, whose message is on stderr."""
OUT_OF_MEMORY: Final = 4
"""Exit code if the document needs more memory than allowed."""
WRITE_FAILED: Final = 5
"""Exit code if the text cannot be written; the error number is on stderr."""


def main(label: str, path: str, into: str) -> None:
    """Write the text of a document to a file and print statistics, or print some pages of a PDF.

    Args:
        label: `pdf`, `xlsx`, `docx`, `pptx`, `epub` or `html` for the text of a document; `pages` to extract
            pages of a PDF.
        path: The document.
        into: The file to write.
    """
    alarm = Timer(TIMEOUT, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    reader = _reader(label)
    _limit_memory()
    try:
        output = reader(Path(path), Path(into))
    except UnreadableFile as error:
        _exit(UNREADABLE, error)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # a regular exit would need memory
    except OSError as error:
        if error.errno is None:
            raise
        _exit(WRITE_FAILED, error.errno)
    sys.stdout.buffer.write(output)


def _reader(label: str) -> Callable[[Path, Path], bytes]:
    """Return the reader for a kind of document. Loads its library, which takes up to a second."""
    if label in ("pdf", "pages"):
        from cognition.documents.pdf import pages_of, write_pages  # noqa: PLC0415

        request = json.load(sys.stdin)
        if label == "pages":
            return lambda path, _: pages_of(path, request["pages"], request["most"])
        transcribed = {int(number): text for number, text in request.items()}
        return lambda path, into: _encode(write_pages(path, into, transcribed))
    if label == "xlsx":
        from cognition.documents.workbook import workbook_text  # noqa: PLC0415

        return lambda path, into: _encode(write(workbook_text(path), path.name, into))
    from cognition.documents.office import office_text  # noqa: PLC0415

    return lambda path, into: _encode(write(office_text(path, label), path.name, into))


def _encode(extracted: Extracted) -> bytes:
    return json.dumps(asdict(extracted)).encode()


def _limit_memory() -> None:
    """Limit memory to `MAX_MEMORY` on top of the loaded libraries, whose threads reserve more per core."""
    if sys.platform == "linux":  # Windows has no such limit, and macOS rejects it
        import resource  # noqa: PLC0415

        with suppress(OSError, ValueError):  # a lower limit is already set
            loaded = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (loaded + MAX_MEMORY, loaded + MAX_MEMORY))


def _exit(code: int, message: object) -> NoReturn:
    sys.stderr.write(f"\n{message}")
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
