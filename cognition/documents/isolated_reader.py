"""The process that reads one document: bounded in memory, and in time even when nobody waits for it any more.

`conversion` starts it and reads what it says.
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

LONGEST: Final = 180.0
"""Seconds that a document may take; one of 300 pages takes ten."""

MOST_MEMORY: Final = 2 << 30
"""Bytes that a document may take, 60 times its markup where there is little text between the tags."""

NOT_UNDERSTOOD: Final = 3
OUT_OF_MEMORY: Final = 4
NOT_WRITTEN: Final = 5
"""What the process ends with when it refuses the document and says why, when it gets no more memory, and
when its text can't be written and it says the number of the error."""


def main(label: str, path: str, into: str) -> None:
    """Write the text of a document to a file and print what was written; or print some pages of it.

    Args:
        label: What it is: `pdf`, `xlsx`, `docx`, `pptx`, `epub` or `html`; or `pages` for those of a PDF.
        path: The document.
        into: The file to write.
    """
    alarm = Timer(LONGEST, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    work = _work(label)
    _bound_memory()
    try:
        told = work(Path(path), Path(into))
    except UnreadableFile as refusal:
        _end(NOT_UNDERSTOOD, refusal)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # a proper end would need some
    except OSError as error:
        if error.errno is None:
            raise
        _end(NOT_WRITTEN, error.errno)
    sys.stdout.buffer.write(told)


def _work(label: str) -> Callable[[Path, Path], bytes]:
    """What there is to do for a kind of document; loads its library, which takes up to a second."""
    if label in ("pdf", "pages"):
        from cognition.documents.pdf import pages_of, write_pages  # noqa: PLC0415

        given = json.load(sys.stdin)
        if label == "pages":
            return lambda path, _: pages_of(path, given["pages"], given["most"])
        words = {int(number): text for number, text in given.items()}
        return lambda path, into: _told(write_pages(path, into, words))
    if label == "xlsx":
        from cognition.documents.workbook import workbook_text  # noqa: PLC0415

        return lambda path, into: _told(write(workbook_text(path), path.name, into))
    from cognition.documents.office import office_text  # noqa: PLC0415

    return lambda path, into: _told(write(office_text(path, label), path.name, into))


def _told(written: Extracted) -> bytes:
    return json.dumps(asdict(written)).encode()


def _bound_memory() -> None:
    """Allow the document `MOST_MEMORY` beside what is loaded, whose threads reserve more with every core."""
    if sys.platform == "linux":  # Windows has no such limit, and macOS refuses it
        import resource  # noqa: PLC0415

        with suppress(OSError, ValueError):  # a lower limit holds already
            loaded = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (loaded + MOST_MEMORY, loaded + MOST_MEMORY))


def _end(code: int, said: object) -> NoReturn:
    sys.stderr.write(f"\n{said}")
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
