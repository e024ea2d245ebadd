"""In which of its two languages the rehearsal answers."""

import re
from typing import Final

_FRENCH_WORD: Final = re.compile(
    r"\b(?:bonjour|salut|merci|je|tu|vous|mon|ma|mes|ton|le|la|les|des|une?|est|où|quel(?:le)?s?|qui|que|quoi|"
    r"comment|pourquoi|réfléchis|faut|devons)\b|\b(?:j|l|d|qu|c)['’]",
    re.IGNORECASE,
)


def is_french(text: str) -> bool:
    """Whether a text has a word that only French has; anything else is taken for English."""
    return bool(_FRENCH_WORD.search(text))
