"""Names for files and folders that are safe on every file system."""

from hashlib import sha256
from string import ascii_lowercase, digits
from typing import Final

from cognition.identity import check_user

PLAIN: Final = frozenset(ascii_lowercase + digits + "-")

RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
"""What Windows keeps for devices, with whatever ending."""

LONGEST: Final = 120
"""Characters of a name; most file systems take 255 bytes."""


def folder_of_user(user_id: str) -> str:
    """A user's folder name: no two users share one, on file systems that ignore case either.

    Lower-case letters, digits and hyphens stand for themselves, so that `local` is in `local`; every other
    byte is `_` and two hexadecimal digits. What gets too long is `__` and a hash, which nothing else begins
    with.

    Args:
        user_id: Who it is.

    Raises:
        ValueError: The user is nobody.
    """
    check_user(user_id)
    name = "".join(char if char in PLAIN else _hex(char) for char in user_id)
    if name in RESERVED:
        name = _hex(name[0]) + name[1:]
    return name if len(name) <= LONGEST else f"__{sha256(user_id.encode()).hexdigest()}"


def _hex(char: str) -> str:
    return "".join(f"_{byte:02x}" for byte in char.encode())
