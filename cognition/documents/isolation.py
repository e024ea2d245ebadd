"""Documents are read in a process of their own, which ends when its time is over: some take hours.

The interpreter's lock stays free meanwhile, what a document took of memory goes with the process, and a
library that crashes takes nothing else along.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cognition.documents.errors import UnreadableFile
from cognition.documents.isolated_reader import LONGEST, NOT_UNDERSTOOD, NOT_WRITTEN, OUT_OF_MEMORY
from cognition.documents.output import Extracted

logger = logging.getLogger(__name__)

KILLED: Final = -9
"""What the process ends with when the system takes away what it has of memory."""

SOURCES: Final = Path(__file__).resolve().parents[2]
"""The folder that holds the package, installed or not."""

HANDED: Final = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""Variables that a process needs to run; a document that takes it over finds no secret in them."""

LOGGED: Final = 2_000
SHOWN: Final = 120
"""Characters of what the process said last, to those who run this and to those who gave the document."""


def converted(path: Path, label: str, into: Path, words: Mapping[int, str] | None = None) -> Extracted:
    """Write the text of a document to a file. Blocks, for `LONGEST` seconds at most.

    Args:
        path: The document.
        label: What it is: `pdf`, `xlsx`, `docx`, `pptx`, `epub` or `html`.
        into: The file to write.
        words: What stands in the place of a PDF's pages without text, by their numbers.

    Raises:
        UnreadableFile: It is damaged, or takes too long or too much memory.
        OSError: `into` can't be written.
    """
    told = json.loads(_run(path, label, into, words or {}))
    return Extracted(**{**told, "missing": tuple(told["missing"])})


def picked(path: Path, pages: Sequence[int], most: int) -> bytes:
    """Some pages of a PDF as one of their own. Blocks like `converted`.

    Args:
        path: The PDF.
        pages: Their numbers, from 1.
        most: The most bytes that they may take.

    Raises:
        UnreadableFile: They take more, or the PDF is damaged, or takes too long or too much memory.
    """
    return _run(path, "pages", Path(os.devnull), {"pages": pages, "most": most})


def _run(path: Path, label: str, into: Path, given: object) -> bytes:
    """What the process prints of a document."""
    # -P: what lies in the working directory is nobody's module
    python = [sys.executable, "-P", "-X", "utf8", "-m", "cognition.documents.isolated_reader"]
    try:
        done = subprocess.run(
            [*python, label, path, into],
            input=json.dumps(given).encode(),
            capture_output=True,
            timeout=LONGEST,
            check=False,
            env=_environment(),
        )
    except subprocess.TimeoutExpired as error:
        msg = f"{path.name!r} was still being read after {LONGEST:.0f} seconds. Split it, or {_save(label)}."
        raise UnreadableFile(msg) from error
    if done.returncode:
        raise _failure(path.name, label, done.returncode, done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def _environment() -> dict[str, str]:
    """What the process is told of ours: no key, and where this package is from every working directory."""
    paths = [str(SOURCES), os.environ.get("PYTHONPATH", "")]
    handed = {name: os.environ[name] for name in HANDED if name in os.environ}
    return {**handed, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _failure(name: str, label: str, code: int, said: str) -> UnreadableFile | OSError:
    last = said.splitlines()[-1] if said else f"it ended with code {code}"
    if code == NOT_UNDERSTOOD:
        return UnreadableFile(last)
    if code == NOT_WRITTEN:
        return OSError(int(last), os.strerror(int(last)))
    logger.error("reading %r ended with code %d: %s", name, code, said[-LOGGED:])
    if code in (OUT_OF_MEMORY, KILLED) or "MemoryError" in said:
        return UnreadableFile(f"{name!r} takes too much memory to read. Split it, or {_save(label)}.")
    return UnreadableFile(f"{name!r} was not read ({last[:SHOWN]}). Save it anew, or {_save(label)}.")


def _save(label: str) -> str:
    return "save it as text" if label in ("pdf", "pages") else "save it as PDF or text"
