"""What a scripted model says: replies with their failures and delays."""

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


@dataclass(frozen=True)
class Call:
    """A function call in a reply."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer of a scripted model."""

    text: str = ""
    calls: Sequence[Call] = ()
    thought: str = ""
    """A thought part before the answer."""
    chunks: int = 1
    """Into how many pieces a stream cuts the text."""
    failure: ScriptedFailure | None = None
    """`stall` goes silent after the text and `drop` breaks the connection there; `max_tokens` ends the answer
    with the text that it has."""
    retry_after: float | None = None
    """Seconds of the RetryInfo of a `rate_limit`."""
    latency: float = 0.0
    """Seconds before the first byte."""


@dataclass(frozen=True)
class Request:
    """A request that arrived, as a test or a script looks at it."""

    model: str
    method: str
    body: dict[str, Any]
    skip_markers: int = 0
    """Signatures replaced by the documented marker."""

    @property
    def system(self) -> str:
        """The system instruction's text."""
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
        """The thought signatures that came back, in their order and in the alphabet they were issued in."""
        parts = [part for content in self.body.get("contents") or () for part in content["parts"]]
        return [standard(part["thoughtSignature"]) for part in parts if part.get("thoughtSignature")]

    @property
    def responses(self) -> list[tuple[str, str]]:
        """Name and text of the function responses in the last content."""
        parts = self.body["contents"][-1]["parts"]
        found = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return [(r["name"], _output(r.get("response") or {})) for r in found]


Script = Sequence[Reply] | Callable[[Request], Reply]
"""Replies in their order, the last one repeated; or a function of the request."""


def _output(response: dict[str, Any]) -> str:
    """A tool's text; clients send a JSON object as it is, and anything else under `output`."""
    output = response.get("output", response)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _text(content: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in content.get("parts") or () if "text" in part)
