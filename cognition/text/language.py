"""Language detection."""

from functools import cache
from threading import Lock
from typing import Final, Literal

from py3langid.langid import MODEL_FILE, LanguageIdentifier

InterfaceLanguage = Literal["en", "fr"]
"""A language in which labels are shown to users."""

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
"""Languages with a stemmer, by ISO 639-1 code."""


UNSTEMMED: Final = ("zh", "ja", "ko", "pl", "cs", "uk", "he", "hi", "th", "vi", "fa")
"""Languages that are detected and tokenized, but not stemmed."""


DETECTION_CHARACTERS: Final = 400
"""Characters of a text to classify; more would be slower and no more accurate."""


_detection_lock: Final = Lock()


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of a text's language, or `en` if the text has no letters.

    Short texts are often misclassified. This does little harm, because queries are stemmed in every language
    that is stored.
    """
    start = next((index for index, character in enumerate(text) if character.isalpha()), None)
    if start is None:
        return "en"
    with _detection_lock:
        return str(_identifier().classify(text[start : start + DETECTION_CHARACTERS])[0])


def interface_language(text: str) -> InterfaceLanguage:
    """Return the language for labels: French if the user's text is more French than English.

    Blocking: the first call loads a model.
    """
    if not any(map(str.isalpha, text)):
        return "en"
    with _detection_lock:
        scores = dict(_identifier().rank(text[:DETECTION_CHARACTERS]))
    return "fr" if scores["fr"] > scores["en"] else "en"


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages([*STEMMED, *UNSTEMMED])
    return identifier
