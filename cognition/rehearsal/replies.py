"""Replies on the wire: Gemini's response bodies, whole or as the events of a stream."""

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


def refusal_of(reply: Reply) -> Refusal | None:
    """The error that a scripted reply stands for, if it is one."""
    if reply.failure == "rate_limit":
        return RateLimit(reply.retry_after)
    if reply.failure == "unavailable":
        return Refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
    return None


class RateLimit(Refusal):
    """A 429, with the delay that the server asks for."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.")
        self.seconds = seconds

    def body(self) -> Json:
        """The error body, with RetryInfo when a delay is known."""
        body = super().body()
        if self.seconds is not None:
            info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{self.seconds}s"}
            body["error"]["details"] = [info]
        return body


def response(request: Request, reply: Reply) -> Json:
    """The whole response body."""
    return _body(request, reply, _parts(request.model, reply), last=True)


def events(request: Request, reply: Reply) -> Iterator[Json]:
    """The response bodies of a stream: thoughts, the text in pieces, then its signature and the calls."""
    parts = _parts(request.model, reply)
    thoughts = [part for part in parts if part.get("thought")]
    calls = [part for part in parts if "functionCall" in part]
    if thoughts:
        yield _body(request, reply, thoughts, last=False)
    for piece in _cut(reply.text, reply.chunks):
        yield _body(request, reply, [{"text": piece}], last=False)
    if reply.failure == "drop":
        return
    signatures = [part["thoughtSignature"] for part in parts if "text" in part and "thoughtSignature" in part]
    yield _body(
        request, reply, [*({"text": "", "thoughtSignature": s} for s in signatures), *calls], last=True
    )


def _parts(model: str, reply: Reply) -> list[Json]:
    """Gemini 3 signs the first of parallel calls, or else the text; older models sign nothing."""
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


def _body(request: Request, reply: Reply, parts: list[Json], *, last: bool) -> Json:
    if reply.failure == "blocked":
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": request.model}
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
    if reply.failure in ("safety", "malformed", "empty"):
        candidate["content"] = {"role": "model"}
    if last:
        candidate["finishReason"] = _FINISH.get(reply.failure or "", "STOP")
    body: Json = {"candidates": [candidate], "modelVersion": request.model}
    if last:
        prompt, said = count_tokens(request.body), _tokens(reply.text) + 12 * len(reply.calls)
        body["usageMetadata"] = {
            "promptTokenCount": prompt,
            "candidatesTokenCount": said,
            "totalTokenCount": prompt + said,
        }
    return body


def count_tokens(body: Json) -> int:
    """About how many tokens a request takes: a quarter of its text's characters."""
    contents = [*(body.get("contents") or ()), body.get("systemInstruction") or {}]
    return sum(_tokens(part.get("text") or str(part)) for c in contents for part in c.get("parts") or ())


def _tokens(text: str) -> int:
    return -(-len(text) // 4)


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]
