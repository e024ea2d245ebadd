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

from cognition.documents.extracted import Extracted, write
from cognition.documents.unreadable import Unreadable

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
    """Write the text of a document to a file, and print what was written.

    Args:
        label: What it is: `pdf`, `xlsx`, `docx`, `pptx`, `epub` or `html`.
        path: The document.
        into: The file to write.
    """
    alarm = Timer(LONGEST, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    read = _reader(label)
    _bound_memory()
    try:
        written = read(Path(path), Path(into))
    except Unreadable as refusal:
        _end(NOT_UNDERSTOOD, refusal)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # a proper end would need some
    except OSError as error:
        if error.errno is None:
            raise
        _end(NOT_WRITTEN, error.errno)
    sys.stdout.write(f"\n{json.dumps(asdict(written))}")


def _reader(label: str) -> Callable[[Path, Path], Extracted]:
    """The way to read a kind of document; loads its library, which takes up to a second."""
    if label == "pdf":
        from cognition.documents.pdf import write_pages  # noqa: PLC0415

        return write_pages
    if label == "xlsx":
        from cognition.documents.workbook import workbook_text  # noqa: PLC0415

        return lambda path, into: write(workbook_text(path), path.name, into)
    from cognition.documents.office import office_text  # noqa: PLC0415

    return lambda path, into: write(office_text(path, label), path.name, into)


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
