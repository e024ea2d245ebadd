"""Display names of importances and artifacts. Stored values are not affected."""

from typing import Final

from cognition.text.language import InterfaceLanguage

USER_PROFILE: Final = "Profil d'Alignement"
LESSONS: Final = "Hypothèses d'Apprentissage"

IMPORTANCES: Final[dict[InterfaceLanguage, tuple[str, ...]]] = {
    "en": ("trivial", "minor", "useful", "major", "axiom"),
    "fr": ("trivial", "mineur", "utile", "majeur", "axiome"),
}
"""The names of the importances 1 to 5."""

ARTIFACTS: Final[dict[InterfaceLanguage, dict[str, str]]] = {
    "en": {USER_PROFILE: "Alignment Profile", LESSONS: "Learning Hypotheses"},
    "fr": {},
}
"""Translations of the two built-in artifacts, by the names they are stored under."""


def importance_label(importance: int, language: InterfaceLanguage) -> str:
    """Return the name of an importance.

    Args:
        importance: 1 to 5.
        language: The language of the interface.
    """
    return IMPORTANCES[language][importance - 1]


def artifact_label(artifact_name: str, language: InterfaceLanguage) -> str:
    """Return the display name of an artifact.

    Args:
        artifact_name: The stored name.
        language: The language of the interface.
    """
    return ARTIFACTS[language].get(artifact_name, artifact_name)
