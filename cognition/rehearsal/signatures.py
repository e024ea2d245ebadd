"""Thought signatures as Gemini 3 issues them: bound to the model and to the part that they sign."""

import base64
import hashlib
import hmac
import json
from typing import Any, Final

SKIP_MARKER: Final = "skip_thought_signature_validator"
"""What Gemini documents for calls that another model made; accepted, and counted."""

_KEY: Final = b"rehearsal"  # guards nothing: threads must stay valid over a restart


def sign(model: str, part: dict[str, Any]) -> str:
    """The signature, in base64, that `model` puts on a part.

    Args:
        model: The model's name without its provider.
        part: A part of a reply, such as `{"functionCall": …}` or `{"text": …}`.
    """
    return base64.b64encode(f"{model}:{_digest(model, part)}".encode()).decode()


def signer(signature: str, part: dict[str, Any]) -> str | None:
    """The model that put this signature on this part; None when it was issued for neither."""
    try:
        decoded = base64.b64decode(standard(signature), validate=True).decode()
    except ValueError:
        return None
    model, _, digest = decoded.rpartition(":")
    return model if hmac.compare_digest(digest, _digest(model, part)) else None


def is_skip_marker(signature: str) -> bool:
    """Whether this is the documented marker, plain or in base64."""
    return signature == SKIP_MARKER or standard(signature) == base64.b64encode(SKIP_MARKER.encode()).decode()


def standard(signature: str) -> str:
    """A signature in the alphabet that it was issued in: clients send bytes back in the URL-safe one."""
    return signature.replace("-", "+").replace("_", "/")


def _digest(model: str, part: dict[str, Any]) -> str:
    # A stream signs its text on an empty last part, so a text's signature can't cover the text.
    call = part.get("functionCall")
    args = json.dumps((call or {}).get("args") or {})
    # Numbers are doubles on this wire: the client sends 2.0 back as 2.
    content = [call["name"], json.loads(args, parse_int=float)] if call else "text"
    text = json.dumps([model, content], sort_keys=True)
    return hmac.new(_KEY, text.encode(), hashlib.sha256).hexdigest()
