"""Whether an answer ends in a question to whoever asked."""

from typing import Final

MARK: Final = "QUESTION:"

FENCES: Final = ("```", "~~~")


def question_in(text: str) -> str:
    """The question that a message ends in; empty when it doesn't.

    It is the last line that is not blank, begins with `QUESTION:`, bold or not, and says something. Within a
    code block or a quotation it is someone else's.
    """
    lines = text.rstrip().splitlines()
    if not lines or lines[-1].startswith(("    ", "\t")) or _in_fence(lines) or _in_quotation(lines):
        return ""
    line = lines[-1].strip().lstrip("*_")
    if not line.startswith(MARK):
        return ""
    return line.removeprefix(MARK).strip(" *_")


def _in_fence(lines: list[str]) -> bool:
    """Whether the last line is within a fenced code block; one that is never closed goes on to the end."""
    open_fence = ""
    for line in lines:
        bare = line.strip()
        if not open_fence and bare.startswith(FENCES):
            open_fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
        elif open_fence and bare.startswith(open_fence) and not bare.strip(bare[0]):
            open_fence = ""
    return bool(open_fence)


def _in_quotation(lines: list[str]) -> bool:
    """Whether the last line belongs to a quotation, whose later lines need no mark in Markdown."""
    return len(lines) > 1 and lines[-2].lstrip().startswith(">")
