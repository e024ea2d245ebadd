"""Error messages for the user."""

import sqlite3
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from cognition.errors import CognitionError
from cognition.settings import Settings


def error_message(error: Exception) -> str:
    """Return the message for the user, or an empty string for a bug, which must keep its traceback."""
    if isinstance(error, SettingsError):
        return f"Invalid setting: {error}. The README lists all settings."
    if isinstance(error, ValidationError) and error.title == Settings.__name__:
        return "\n".join(_setting_message(detail) for detail in error.errors(include_url=False))
    if isinstance(error, sqlite3.DatabaseError):
        advice = "Run `cognition doctor` to find out which."
        return f"A database in the home folder can't be used ({error}). {advice}"
    if isinstance(error, OSError | CognitionError):
        return str(error)
    return ""


def _setting_message(detail: Any) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else "settings"
    variable = name if name.isupper() else f"COGNITION_{name.upper()}"
    problem = detail["msg"].removeprefix("Value error, ").removesuffix(".")
    return f"Invalid {variable} {detail['input']!r}: {problem}."
