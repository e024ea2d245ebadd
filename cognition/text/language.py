"""The language of a text."""

from functools import cache
from threading import Lock
from typing import Final, Literal

from py3langid.langid import MODEL_FILE, LanguageIdentifier

InterfaceLanguage = Literal["en", "fr"]
"""The languages in which names are shown to users."""

STEMMED: Final = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""ISO 639-1 codes of the languages with a stemmer."""


UNSTEMMED: Final = ("zh", "ja", "ko", "pl", "cs", "uk", "he", "hi", "th", "vi", "fa")
"""Languages that are told apart but only cut into words."""


TELLING: Final = 400
"""Characters by which a text's language is told: more take longer and tell no more."""


_detecting: Final = Lock()


def detect_language(text: str) -> str:
    """The ISO 639-1 code of a text's language; `en` for a text without letters.

    Short texts are often misjudged, which costs little: queries are stemmed in every language that is stored.
    """
    first = next((place for place, character in enumerate(text) if character.isalpha()), None)
    if first is None:
        return "en"
    with _detecting:
        return str(_identifier().classify(text[first : first + TELLING])[0])


def interface_language(text: str) -> InterfaceLanguage:
    """Return the language to show names in to the author of a text: French if it is more French than English.

    Blocking: the first call loads a model.
    """
    if not any(map(str.isalpha, text)):
        return "en"
    with _detecting:
        scores = dict(_identifier().rank(text[:TELLING]))
    return "fr" if scores["fr"] > scores["en"] else "en"


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages([*STEMMED, *UNSTEMMED])
    return identifier
