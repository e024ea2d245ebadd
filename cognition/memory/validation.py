"""Validation of the arguments passed to the memories."""

from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from reprlib import repr as short_repr
from typing import Final

from cognition.errors import InvalidInput

LONGEST_ID: Final = 200
"""Maximum length of a source id in characters."""

MAX_COUNT: Final = 1_000_000
"""Maximum limit of a query: more items than a user will ever have, and accepted by every engine."""


class UnknownSource(InvalidInput):
    """An unknown source. The message suggests the most similar ids.

    Args:
        source_id: The requested id.
        ids: The ids of all sources.
    """

    def __init__(self, source_id: str, ids: Sequence[str]) -> None:
        matches = get_close_matches(source_id, ids, 5, 0.3)
        hint = f" The nearest ids are: {', '.join(map(repr, matches))}." if matches else ""
        super().__init__(f"No source has the id {short_repr(source_id)}.{hint}")


def checked_id(source_id: object) -> str:
    """Return a source id without surrounding whitespace.

    Raises:
        InvalidInput: If it is not a string, is blank or too long, or contains characters that are not
            printable, such as a lone surrogate.
    """
    tidy = source_id.strip() if isinstance(source_id, str) else ""
    if not tidy.isprintable() or not 0 < len(tidy) <= LONGEST_ID:
        msg = f"Invalid source_id {short_repr(source_id)}: expected 1 to {LONGEST_ID} printable characters."
        raise InvalidInput(msg)
    return tidy


def check_limit(name: str, limit: object) -> None:
    """Check a limit.

    Args:
        name: The name of the parameter, for the message.
        limit: The value.

    Raises:
        InvalidInput: If it is not an integer from 1 to `MAX_COUNT`.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_COUNT:
        msg = f"Invalid {name} {short_repr(limit)}: expected an integer from 1 to {MAX_COUNT:,}."
        raise InvalidInput(msg)


def checked_moment(created_at: float) -> float:
    """Return a timestamp in unix seconds after checking that it can be shown as a date.

    Raises:
        InvalidInput: If it is not a finite number, or is outside the years 1 to 9999.
    """
    try:
        datetime.fromtimestamp(created_at, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        msg = f"Invalid created_at {short_repr(created_at)}: expected unix seconds in the years 1 to 9999."
        raise InvalidInput(msg) from None
    return created_at
