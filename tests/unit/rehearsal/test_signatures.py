"""Thought signatures are placed as Gemini places them, and the real client returns them."""

import base64
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from cognition.rehearsal import Call, RehearsalServer, Reply
from cognition.rehearsal.signatures import SKIP_MARKER, is_skip_marker, sign, signer, standard
from tests.conftest import FLASH, LITE, PRO
from tests.unit.rehearsal.conftest import Chat, Post

TWO_CALLS = [
    Call("find", {"query": "thé", "limit": 3, "near": 2.0, "deep": {"a": [None, True]}}),
    Call("now"),
]


async def say(model: BaseChatModel, messages: list[AnyMessage], *, streamed: bool) -> AIMessage:
    if not streamed:
        return await model.ainvoke(messages)
    whole: Any = None
    async for chunk in model.astream(messages):
        whole = chunk if whole is None else whole + chunk
    return cast("AIMessage", whole)


def results(message: AIMessage) -> list[ToolMessage]:
    return [ToolMessage("done", tool_call_id=str(call["id"])) for call in message.tool_calls]


def wire_parts(request_body: dict[str, Any], content: int) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", request_body["contents"][content]["parts"])


@pytest.mark.parametrize("model", [LITE, FLASH, PRO])
@pytest.mark.parametrize("streamed", [False, True], ids=["ainvoke", "astream"])
async def test_p1_parallel_calls_come_back_signed_on_the_first(
    streamed: bool, model: str, chat: Chat, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(model, [Reply(calls=TWO_CALLS, thought="hm"), Reply(text="Found."), Reply(text="More.")])
    client = chat(model)
    history: list[AnyMessage] = [HumanMessage("Hello")]
    called = await say(client, history, streamed=streamed)
    history += [called, *results(called)]
    history += [await say(client, history, streamed=streamed), HumanMessage("And?")]
    await say(client, history, streamed=streamed)

    assert rehearsal.refusals == []
    assert [request.skip_markers for request in rehearsal.requests] == [0, 0, 0]
    first, second = [p for p in wire_parts(rehearsal.requests[1].body, 1) if "functionCall" in p]
    assert "thoughtSignature" not in second
    assert rehearsal.requests[1].signatures == [standard(first["thoughtSignature"])]
    assert rehearsal.requests[1].signatures[0] == sign(model, first)
    assert len(rehearsal.requests[2].signatures) == 2, "the text of the previous turn is signed too"


async def test_p2_a_rebuilt_message_is_seen_by_its_marker(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(calls=TWO_CALLS), Reply(text="Found.")])
    called = await chat().ainvoke("Hello")
    rebuilt = AIMessage(called.content, tool_calls=called.tool_calls)
    await chat().ainvoke([HumanMessage("Hello"), rebuilt, *results(rebuilt)])
    assert rehearsal.requests[-1].skip_markers == 1


def test_calls_of_models_before_gemini_3_are_not_signed(post: Post, rehearsal: RehearsalServer) -> None:
    rehearsal.script("gemini-2.5-flash", [Reply(text="Hm.", calls=TWO_CALLS)])
    body = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
    assert "thoughtSignature" not in post(body, "gemini-2.5-flash").text


@pytest.mark.parametrize("alphabet", [base64.b64encode, base64.urlsafe_b64encode])
def test_the_marker_is_known_plain_and_encoded(alphabet: Any) -> None:
    assert is_skip_marker(SKIP_MARKER)
    assert is_skip_marker(alphabet(SKIP_MARKER.encode()).decode())
    assert not is_skip_marker(sign(FLASH, {"text": "any"}))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.text(min_size=1), st.dictionaries(st.text(), json_values, max_size=3))
def test_a_signature_names_its_model_for_its_call_only(name: str, args: dict[str, Any]) -> None:
    part = {"functionCall": {"name": name, "args": args}}
    signature = sign(PRO, part)
    assert signer(signature, part) == PRO
    assert signer(signature.replace("+", "-").replace("/", "_"), part) == PRO
    assert signer(signature, {"functionCall": {"name": name + "x", "args": args}}) is None
    assert signer(signature, {"text": name}) is None


@settings(deadline=None)
@given(st.text())
def test_no_text_is_taken_for_a_signature(text: str) -> None:
    assert signer(text, {"text": "any"}) is None
