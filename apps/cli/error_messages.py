"""What the application refuses, in the words that the user gets."""

import sqlite3
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from cognition.errors import CognitionError
from cognition.settings import Settings


def error_message(error: Exception) -> str:
    """The sentence for the user; empty when the error is a fault of the program, to be seen whole."""
    if isinstance(error, SettingsError):
        return f"A setting can't be read: {error}. The README lists them all."
    if isinstance(error, ValidationError) and error.title == Settings.__name__:
        return "\n".join(_setting(detail) for detail in error.errors(include_url=False))
    if isinstance(error, sqlite3.DatabaseError):
        return f"A database of the folder can't be used ({error}): `cognition doctor` says which."
    if isinstance(error, OSError | CognitionError):
        return str(error)
    return ""


def _setting(detail: Any) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else "settings"
    shown = name if name.isupper() else f"COGNITION_{name.upper()}"
    return f"{shown}: {detail['msg']} (it is {detail['input']!r})."
