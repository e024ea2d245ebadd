"""Gemini's response bodies for scripted replies, complete or as the events of a stream."""

from collections.abc import Iterator
from typing import Any, Final

from cognition.rehearsal.refusals import Refusal, is_gemini_3
from cognition.rehearsal.script import Reply, Request
from cognition.rehearsal.signatures import sign

Json = dict[str, Any]

_FINISH: Final = {
    "safety": "SAFETY",
    "malformed": "MALFORMED_FUNCTION_CALL",
    "max_tokens": "MAX_TOKENS",
}

_DOWN: Final = {
    "internal": (500, "INTERNAL", "An internal error has occurred. Please retry."),
    "unavailable": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
}


def refusal_of(reply: Reply) -> Refusal | None:
    """Return the error that a scripted reply represents; None if it represents none."""
    if reply.failure == "rate_limit":
        return RateLimit(reply.retry_after)
    down = _DOWN.get(reply.failure or "")
    return Refusal(*down) if down else None


class RateLimit(Refusal):
    """A 429 error with an optional retry delay in seconds."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.")
        self.seconds = seconds

    def body(self) -> Json:
        """Return the error body, with RetryInfo if there is a delay."""
        body = super().body()
        if self.seconds is not None:
            info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{self.seconds}s"}
            body["error"]["details"] = [info]
        return body


def response(request: Request, reply: Reply) -> Json:
    """Return the complete response body."""
    parts = _parts(request.model, reply)
    return _body(request, reply, parts, _usage(count_tokens(request.body), parts), last=True)


def events(request: Request, reply: Reply) -> Iterator[Json]:
    """Yield the response bodies of a stream: thoughts, the text in pieces, then its signature and the calls.

    Each contains the usage so far, like Gemini's. A reply that stalls or drops ends after its text.
    """
    prompt = count_tokens(request.body)
    sent: list[Json] = []
    for parts, last in _pieces(_parts(request.model, reply), reply):
        sent += parts
        yield _body(request, reply, parts, _usage(prompt, sent), last=last)


def _pieces(parts: list[Json], reply: Reply) -> Iterator[tuple[list[Json], bool]]:
    thoughts = [part for part in parts if part.get("thought")]
    if thoughts:
        yield thoughts, False
    for piece in _cut(reply.text, reply.chunks):
        yield [{"text": piece}], False
    if reply.failure in ("stall", "drop"):
        return
    signatures = [part["thoughtSignature"] for part in parts if "text" in part and "thoughtSignature" in part]
    signed = [{"text": "", "thoughtSignature": signature} for signature in signatures]
    yield [*signed, *(part for part in parts if "functionCall" in part)], True


def _parts(model: str, reply: Reply) -> list[Json]:
    """Return the parts of a reply. Gemini 3 signs the first call, or the text if there is none."""
    parts: list[Json] = []
    if reply.thought:
        parts.append({"text": reply.thought, "thought": True})
    if reply.text:
        parts.append({"text": reply.text})
    calls: list[Json] = [{"functionCall": {"name": call.name, "args": call.args}} for call in reply.calls]
    if is_gemini_3(model):
        signed = calls[0] if calls else next((p for p in parts if not p.get("thought")), None)
        if signed is not None:
            signed["thoughtSignature"] = sign(model, signed)
    return [*parts, *calls]


def _body(request: Request, reply: Reply, parts: list[Json], usage: Json, *, last: bool) -> Json:
    body: Json = {"modelVersion": request.model, "usageMetadata": usage}
    if reply.failure == "blocked":
        return {**body, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    if reply.failure == "no_candidate":
        return body
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
    if reply.failure in ("safety", "malformed", "empty"):
        candidate["content"] = {"role": "model"}
    if last:
        candidate["finishReason"] = _FINISH.get(reply.failure or "", "STOP")
    return {**body, "candidates": [candidate]}


def _usage(prompt: int, parts: list[Json]) -> Json:
    thought = _tokens("".join(part["text"] for part in parts if part.get("thought")))
    answer = _tokens(
        "".join(str(part.get("functionCall") or part["text"]) for part in parts if not part.get("thought"))
    )
    usage = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": answer,
        "totalTokenCount": prompt + answer + thought,
    }
    return {**usage, "thoughtsTokenCount": thought} if thought else usage


def count_tokens(body: Json) -> int:
    """Estimate the tokens of a request as a quarter of its text's characters."""
    contents = [*(body.get("contents") or ()), body.get("systemInstruction") or {}]
    return sum(_tokens(part.get("text") or str(part)) for c in contents for part in c.get("parts") or ())


def _tokens(text: str) -> int:
    return -(-len(text) // 4)


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]
