"""Detection of the language of rehearsed answers: English or French."""

import re
from typing import Final

_FRENCH_WORD: Final = re.compile(
    r"\b(?:bonjour|salut|merci|je|tu|vous|mon|ma|mes|ton|le|la|les|des|une?|est|où|quel(?:le)?s?|qui|que|quoi|"
    r"comment|pourquoi|réfléchis|faut|devons)\b|\b(?:j|l|d|qu|c)['’]",
    re.IGNORECASE,
)


def is_french(text: str) -> bool:
    """Return True if a text contains a typically French word; otherwise it counts as English."""
    return bool(_FRENCH_WORD.search(text))
