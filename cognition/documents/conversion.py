"""MarkItDown in a process of its own, which ends when its time is over: some documents take it hours.

The interpreter's lock stays free meanwhile, and what the document took of memory goes with the process.
"""

import os
import subprocess
import sys
from io import BytesIO
from threading import Timer
from typing import Final

from cognition.documents.unreadable import Unreadable, damaged

LONGEST: Final = 180.0
"""Seconds that a document may take; one of 300 pages takes ten."""

NOT_UNDERSTOOD: Final = 3
"""What the process ends with when the document is damaged; it says what is wrong."""


def converted(data: bytes, name: str, label: str) -> str:
    """A document as Markdown. Blocks for a second at least, and for `LONGEST` at most.

    Args:
        data: The document.
        name: What people call it.
        label: What it is: `docx`, `pptx`, `epub`, or `html` in UTF-8.

    Raises:
        Unreadable: It is damaged, or takes too long.
    """
    command = [sys.executable, "-m", __name__, label]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired as error:
        msg = (
            f"{name!r} was still being read after {LONGEST:.0f} seconds. Split it, or save it as PDF or text."
        )
        raise Unreadable(msg) from error
    if done.returncode == NOT_UNDERSTOOD:
        raise damaged(name, done.stderr.decode("utf-8", "replace"))
    if done.returncode:
        msg = f"Reading {name!r} ended with code {done.returncode}, maybe out of memory. Split it."
        raise Unreadable(msg)
    return done.stdout.decode("utf-8", "replace")


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
    converter = MarkItDown(
        enable_builtins=False
    )  # the one that is meant: no network, no archives, no guessing
    converter.register_converter(readers[label]())
    info = StreamInfo(extension=f".{label}", charset="utf-8")
    try:
        markdown = converter.convert_stream(BytesIO(sys.stdin.buffer.read()), stream_info=info).markdown
    except FileConversionException as error:
        causes = [attempt.exc_info[1] for attempt in error.attempts or () if attempt.exc_info]
        cause = causes[-1] if causes else error
        sys.stderr.write(str(cause) or type(cause).__name__)
        sys.exit(NOT_UNDERSTOOD)
    sys.stdout.buffer.write(markdown.encode("utf-8", "replace"))


if __name__ == "__main__":
    main(*sys.argv[1:])
