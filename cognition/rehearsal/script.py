"""Scripts for the rehearsal server: requests, and replies with failures and delays."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cognition.rehearsal.signatures import standard

ScriptedFailure = Literal[
    "rate_limit",
    "internal",
    "unavailable",
    "stall",
    "drop",
    "blocked",
    "no_candidate",
    "safety",
    "malformed",
    "max_tokens",
    "empty",
]
"""`stall` goes silent after the text, `drop` breaks the connection after it, and `max_tokens` ends the answer
with it; the others replace the answer."""


@dataclass(frozen=True)
class Call:
    """A function call in a reply."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A reply of a scripted model."""

    text: str = ""
    calls: Sequence[Call] = ()
    thought: str = ""
    """The text of a thought before the answer."""
    chunks: int = 1
    """Number of pieces in which a stream sends the text."""
    failure: ScriptedFailure | None = None
    retry_after: float | None = None
    """Seconds to wait, in the RetryInfo of a `rate_limit`."""
    latency: float = 0.0
    """Seconds to wait before the first byte."""


@dataclass(frozen=True)
class Request:
    """A received request."""

    model: str
    method: str
    body: dict[str, Any]
    skip_markers: int = 0
    """Number of signatures replaced by the documented skip marker."""

    @property
    def system(self) -> str:
        """The text of the system instruction."""
        return _text(self.body.get("systemInstruction") or {})

    @property
    def texts(self) -> list[str]:
        """The text of each content, oldest first."""
        return [_text(content) for content in self.body.get("contents") or ()]

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The declared functions by name."""
        declared = [
            d for tool in self.body.get("tools") or () for d in tool.get("functionDeclarations") or ()
        ]
        return {declaration["name"]: declaration for declaration in declared}

    @property
    def signatures(self) -> list[str]:
        """The returned thought signatures, in order and in the alphabet in which they were issued."""
        parts = [part for content in self.body.get("contents") or () for part in content["parts"]]
        return [standard(part["thoughtSignature"]) for part in parts if part.get("thoughtSignature")]

    @property
    def responses(self) -> list[tuple[str, str]]:
        """The names and texts of the function responses in the last content."""
        parts = self.body["contents"][-1]["parts"]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return [(r["name"], _output(r.get("response") or {})) for r in responses]


Script = Sequence[Reply] | Callable[[Request], Reply]
"""Replies in order, of which the last is repeated; or a function of the request."""


def _output(response: dict[str, Any]) -> str:
    """Return the text of a tool result. Clients send JSON objects as such, other values under `output`."""
    output = response.get("output", response)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _text(content: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in content.get("parts") or () if "text" in part)
