"""All errors of ours share a base, by which the command line and HTTP know them."""

from importlib import import_module

import pytest

from apps.cli.error_messages import error_message
from cognition.errors import CognitionError, InvalidInput, Unavailable
from tests.unit.test_architecture import MODULES

OTHER_BASES = {"Refusal", "RateLimit"}
"""The refusals of the rehearsal are answers of its server and never leave it."""


EXTRAS = {"cognition.embedding.sentence_transformer": "sentence_transformers"}
"""Modules that need an extra, with the package that it brings."""


def errors_of(module: str) -> list[type[Exception]]:
    return [
        member
        for member in vars(import_module(module)).values()
        if isinstance(member, type) and issubclass(member, Exception) and member.__module__ == module
    ]


@pytest.mark.parametrize("module", MODULES)
def test_every_error_of_ours_is_a_cognition_error(module: str) -> None:
    if module in EXTRAS:
        pytest.importorskip(EXTRAS[module])
    strays = [error for error in errors_of(module) if not issubclass(error, CognitionError)]
    assert {error.__name__ for error in strays} <= OTHER_BASES


@pytest.mark.parametrize("kind", [CognitionError, InvalidInput, Unavailable])
def test_an_error_of_ours_is_shown_as_its_sentence_and_a_bug_is_not(kind: type[Exception]) -> None:
    assert error_message(kind("Invalid importance 7.")) == "Invalid importance 7."
    assert error_message(ValueError("a bug")) == error_message(RuntimeError("a bug")) == ""
