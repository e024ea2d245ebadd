"""Thought signatures like those of Gemini 3, bound to the model and to the signed part."""

import base64
import hashlib
import hmac
import json
from typing import Any, Final

SKIP_MARKER: Final = "skip_thought_signature_validator"
"""The marker that Gemini documents for calls made by another model; accepted and counted."""

_KEY: Final = b"rehearsal"  # not a secret, and constant, so that threads stay valid after a restart


def sign(model: str, part: dict[str, Any]) -> str:
    """Return the signature of a model for a part, in base64.

    Args:
        model: The name of the model, without the provider.
        part: A part of a reply, such as `{"functionCall": …}` or `{"text": …}`.
    """
    return base64.b64encode(f"{model}:{_digest(model, part)}".encode()).decode()


def signer(signature: str, part: dict[str, Any]) -> str | None:
    """Return the model that signed a part; None if the signature was not issued for it."""
    try:
        decoded = base64.b64decode(standard(signature), validate=True).decode()
    except ValueError:
        return None
    model, _, digest = decoded.rpartition(":")
    return model if hmac.compare_digest(digest, _digest(model, part)) else None


def is_skip_marker(signature: str) -> bool:
    """Return True if this is the skip marker, plain or in base64."""
    return signature == SKIP_MARKER or standard(signature) == base64.b64encode(SKIP_MARKER.encode()).decode()


def standard(signature: str) -> str:
    """Return a signature in the standard base64 alphabet; clients send the URL-safe one."""
    return signature.replace("-", "+").replace("_", "/")


def _digest(model: str, part: dict[str, Any]) -> str:
    # In a stream, the signature of a text is on an empty last part, so it can't cover the text.
    call = part.get("functionCall")
    args = json.dumps((call or {}).get("args") or {})
    # The protocol has only doubles, so the client returns 2.0 as 2.
    content = [call["name"], json.loads(args, parse_int=float)] if call else "text"
    text = json.dumps([model, content], sort_keys=True)
    return hmac.new(_KEY, text.encode(), hashlib.sha256).hexdigest()
