"""Isolated reading of documents, in a separate process with a time limit, because some would take hours.

A separate process keeps the interpreter's lock free, returns its memory when it ends, and can crash without
affecting this one.
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
from cognition.documents.isolated_reader import OUT_OF_MEMORY, TIMEOUT, UNREADABLE, WRITE_FAILED
from cognition.documents.output import Extracted

logger = logging.getLogger(__name__)

KILLED: Final = -9
"""Exit code of a process that the operating system killed, usually because memory ran out."""

IMPORT_ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder that contains the `cognition` package, whether installed or not."""

INHERITED: Final = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""Environment variables passed to the process. None holds a secret, in case a malicious document takes over
the process."""

LOGGED_CHARACTERS: Final = 2_000
"""Characters of the process's error output to log."""
SHOWN_CHARACTERS: Final = 120
"""Characters of the last line of its error output to show to the user."""


def convert(path: Path, label: str, into: Path, transcribed: Mapping[int, str] | None = None) -> Extracted:
    """Write the text of a document to a file. Blocking, for up to `TIMEOUT` seconds.

    Args:
        path: The document.
        label: Its format: `pdf`, `xlsx`, `docx`, `pptx`, `epub` or `html`.
        into: The file to write.
        transcribed: Texts to insert for the pages of a PDF that have no text, by page number.

    Raises:
        UnreadableFile: If the document is damaged, or takes too long or too much memory.
        OSError: If `into` cannot be written.
    """
    result = json.loads(_run(path, label, into, transcribed or {}))
    return Extracted(**{**result, "missing": tuple(result["missing"])})


def extract_pages(path: Path, pages: Sequence[int], limit: int) -> bytes:
    """Return some pages of a PDF as a new PDF. Blocking, for up to `TIMEOUT` seconds.

    Args:
        path: The PDF.
        pages: Page numbers, from 1.
        limit: Maximum size of the new PDF in bytes.

    Raises:
        UnreadableFile: If the pages exceed the limit, or the PDF is damaged, or takes too long or too much
            memory.
    """
    return _run(path, "pages", Path(os.devnull), {"pages": pages, "most": limit})


def _run(path: Path, label: str, into: Path, request: object) -> bytes:
    """Run the reader on a document and return its standard output."""
    # -P: never import modules from the working directory
    python = [sys.executable, "-P", "-X", "utf8", "-m", "cognition.documents.isolated_reader"]
    try:
        process = subprocess.run(
            [*python, label, path, into],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
            env=_environment(),
        )
    except subprocess.TimeoutExpired as error:
        msg = f"Reading {path.name!r} took longer than {TIMEOUT:.0f} seconds. Split it, or {_save(label)}."
        raise UnreadableFile(msg) from error
    if process.returncode:
        errors = process.stderr.decode("utf-8", "replace").strip()
        raise _failure(path.name, label, process.returncode, errors)
    return process.stdout


def _environment() -> dict[str, str]:
    """Return an environment without API keys that can import this package from any working directory."""
    paths = [str(IMPORT_ROOT), os.environ.get("PYTHONPATH", "")]
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _failure(name: str, label: str, code: int, errors: str) -> UnreadableFile | OSError:
    last_line = errors.splitlines()[-1] if errors else f"exit code {code}"
    if code == UNREADABLE:
        return UnreadableFile(last_line)
    if code == WRITE_FAILED:
        return OSError(int(last_line), os.strerror(int(last_line)))
    logger.error("reading %r failed with exit code %d: %s", name, code, errors[-LOGGED_CHARACTERS:])
    if code in (OUT_OF_MEMORY, KILLED) or "MemoryError" in errors:
        return UnreadableFile(f"{name!r} takes too much memory to read. Split it, or {_save(label)}.")
    reason = last_line[:SHOWN_CHARACTERS]
    return UnreadableFile(f"Could not read {name!r} ({reason}). Save it again, or {_save(label)}.")


def _save(label: str) -> str:
    return "save it as text" if label in ("pdf", "pages") else "save it as PDF or text"
