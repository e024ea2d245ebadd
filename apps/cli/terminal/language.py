"""The language of the terminal."""

import os

from cognition.text.language import InterfaceLanguage


def terminal_language() -> InterfaceLanguage:
    """Return the language of the user's locale if it is supported, otherwise English."""
    locale = next(
        (value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), ""
    )
    return "fr" if locale.lower().startswith("fr") else "en"
