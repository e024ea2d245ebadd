"""Timestamps as they are stored, and periods as a model writes them."""

import re
import time as clock
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from math import isfinite
from reprlib import repr as short_repr

from cognition.errors import InvalidInput

DATE_FORMATS = "2024, 2024-05, 2024-05-17 or 2024-05-17T14:30:00Z"
LAST_INSTANT = time(23, 59, 59, 999_000, UTC)


class InvalidDate(InvalidInput):
    """A date that can't be parsed, or a period that ends before it starts."""


@dataclass(frozen=True)
class Period:
    """A period of time in unix seconds, both bounds included. None leaves a side open.

    Raises:
        InvalidInput: If a bound is not finite; the vector engine cannot handle such a value.
    """

    start: float | None = None
    end: float | None = None

    def __post_init__(self) -> None:
        for bound in (self.start, self.end):
            if bound is not None and not isfinite(bound):
                msg = f"Invalid bound {bound} of a period: expected unix seconds, or None for no bound."
                raise InvalidInput(msg)


def now() -> float:
    """Return the current unix time, rounded to microseconds because Qdrant alters finer values."""
    return round(clock.time(), 6)


def read_period(start_date: str, end_date: str) -> Period:
    """Parse a period from a start date and an end date; an empty date leaves that end open.

    A year, month or day is included in full. Times without a zone are UTC.

    Raises:
        InvalidDate: If a date can't be parsed, or the start is after the end. The message names the value.
    """
    start = _read("start_date", start_date)[0] if start_date.strip() else None
    end = _read("end_date", end_date)[1] if end_date.strip() else None
    if start is not None and end is not None and start > end:
        msg = f"start_date {start_date.strip()!r} is after end_date {end_date.strip()!r}: swap them."
        raise InvalidDate(msg)
    return Period(start.timestamp() if start else None, end.timestamp() if end else None)


def _read(name: str, text: str) -> tuple[datetime, datetime]:
    """Return the first and the last instant of a date."""
    text = text.strip()
    try:
        if match := re.fullmatch(r"(\d{4})(?:-(\d{2}))?", text):
            first = datetime(int(match[1]), int(match[2] or 1), 1, tzinfo=UTC)
            month = first.month if match[2] else 12
            last = first.replace(month=month, day=monthrange(first.year, month)[1])
            return first, datetime.combine(last, LAST_INSTANT)
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if re.fullmatch(r"\d{4}-?W\d{2}", text):
            return moment, datetime.combine(moment + timedelta(days=6), LAST_INSTANT)
        if re.fullmatch(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d", text):
            return moment, datetime.combine(moment, LAST_INSTANT)
        moment.timestamp()
    except (ValueError, OverflowError):
        msg = f"Invalid {name} {short_repr(text)}: expected {DATE_FORMATS}."
        raise InvalidDate(msg) from None
    return moment, moment
