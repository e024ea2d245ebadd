"""Names for files and folders that are safe on every file system."""

from hashlib import sha256
from string import ascii_lowercase, digits
from typing import Final

from cognition.identity import check_user

PLAIN: Final = frozenset(ascii_lowercase + digits + "-")

RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
"""Names that Windows reserves for devices, with any extension."""

LONGEST: Final = 120
"""Maximum characters of a name; most file systems allow 255 bytes."""


def folder_name(user_id: str) -> str:
    """Return the folder name for a user id, unique even on file systems that ignore case.

    Lowercase letters, digits and hyphens are kept, so the user `local` gets the folder `local`; every other
    byte becomes `_` and two hexadecimal digits. A name that would be too long is replaced by `__` and a hash;
    no other name starts with `__`.

    Args:
        user_id: The user.

    Raises:
        InvalidInput: If the user is blank.
    """
    check_user(user_id)
    name = "".join(char if char in PLAIN else _hex(char) for char in user_id)
    if name in RESERVED:
        name = _hex(name[0]) + name[1:]
    return name if len(name) <= LONGEST else f"__{sha256(user_id.encode()).hexdigest()}"


def _hex(char: str) -> str:
    return "".join(f"_{byte:02x}" for byte in char.encode())
