"""What callers give to the memories, checked before anything is done with it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from reprlib import repr as short_repr
from typing import Final

from cognition.errors import InvalidInput

LONGEST_ID: Final = 200

MOST: Final = 1_000_000
"""Of whatever is counted: more than anybody has, and few enough for every engine beneath."""


class UnknownSource(InvalidInput):
    """There is no such source; the message names the ids of those there are that are the nearest.

    Args:
        source_id: What was asked for.
        ids: Those of all sources.
    """

    def __init__(self, source_id: str, ids: Sequence[str]) -> None:
        near = get_close_matches(source_id, ids, 5, 0.3)
        nearest = f" The nearest ids are: {', '.join(map(repr, near))}." if near else ""
        super().__init__(f"No source has the id {short_repr(source_id)}.{nearest}")


def checked_id(source_id: object) -> str:
    """The id of a source without spaces around it.

    Raises:
        InvalidInput: It is no text, blank, too long, or holds what can't be seen, such as half a character.
    """
    tidy = source_id.strip() if isinstance(source_id, str) else ""
    if not tidy.isprintable() or not 0 < len(tidy) <= LONGEST_ID:
        msg = f"The source_id {short_repr(source_id)} is no id: give 1 to {LONGEST_ID} visible characters."
        raise InvalidInput(msg)
    return tidy


def check_limit(name: str, limit: object) -> None:
    """Refuse a limit that nothing can be found within, or that no engine beneath takes.

    Args:
        name: What the caller knows it by.
        limit: As it was given.

    Raises:
        InvalidInput: It is no whole number from 1 to `MOST`.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
        msg = f"The {name} {short_repr(limit)} is none: give a whole number from 1 to {MOST:,}."
        raise InvalidInput(msg)


def checked_moment(created_at: float) -> float:
    """A moment, in unix seconds, that can be shown as a date.

    Raises:
        InvalidInput: It is no number, not finite, or in no year from 1 to 9999.
    """
    try:
        datetime.fromtimestamp(created_at, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        msg = f"The created_at {short_repr(created_at)} is none: give unix seconds of a year from 1 to 9999."
        raise InvalidInput(msg) from None
    return created_at
