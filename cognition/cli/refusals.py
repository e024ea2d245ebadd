"""What the application refuses, in the words that the user gets."""

from typing import Any

import httpx
from langgraph_sdk.errors import APIError
from pydantic import ValidationError

from cognition.cli.session import TurnFailed
from cognition.embedding import EmbeddingUnavailable
from cognition.memory.engine import StampMismatch
from cognition.storage.folder import FolderInUse

REFUSALS = (FolderInUse, EmbeddingUnavailable, StampMismatch, TurnFailed)


def sentence_of(error: Exception) -> str:
    """The sentence for the user; empty when the error is a fault of the program, to be seen whole."""
    if isinstance(error, ValidationError):
        return "\n".join(_setting(detail) for detail in error.errors(include_url=False))
    if isinstance(error, APIError):
        return f"The server answered {error.response.status_code}: {error}"
    if isinstance(error, httpx.TransportError):
        return f"The server that holds the folder went away ({type(error).__name__}). Try again."
    if isinstance(error, (*REFUSALS, OSError)) or type(error).__module__.startswith("cognition"):
        return str(error)
    # A bare ValueError is how the application refuses a value; its subclasses are a program's faults.
    return str(error) if type(error) is ValueError else ""


def _setting(detail: Any) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else "settings"
    shown = name if name.isupper() else f"COGNITION_{name.upper()}"
    return f"{shown}: {detail['msg']} (it is {detail['input']!r})."
