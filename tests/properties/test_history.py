"""Properties of the history sent to a model, for any part of any thread."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from cognition.messages.history import (
    STAMP,
    UNANSWERED,
    message_tokens,
    prepare_history,
    split_turns,
    trim_turns,
)

MODELS = ("google_genai:gemini-3.8-flash", "google_genai:gemini-3.1-pro-preview")
SIGNATURES = "__gemini_function_call_thought_signatures__"


@st.composite
def turns(draw: st.DrawFn) -> list[AnyMessage]:
    """Generate a user's message, rounds of calls with some results missing, and possibly an answer."""
    messages: list[AnyMessage] = [HumanMessage(draw(st.sampled_from(["Hi", "", "  ", "tea?"])))]
    for _ in range(draw(st.integers(0, 3))):
        model = draw(st.sampled_from(MODELS))
        count = draw(st.integers(1, 3))
        ids = [f"call{draw(st.sampled_from([0, 1, 2]))}-{n}" for n in range(count)]
        messages.append(
            AIMessage(
                draw(st.sampled_from(["", "Looking."])),
                tool_calls=[{"name": "look", "args": {}, "id": call} for call in ids],
                additional_kwargs={SIGNATURES: {ids[0]: "c2ln"}},
                response_metadata={STAMP: {"model": model}},
            )
        )
        answered = [call for call in ids if draw(st.booleans())]
        result = f"found after {len(messages)} messages"
        messages += [ToolMessage(result, tool_call_id=call) for call in draw(st.permutations(answered))]
    if draw(st.booleans()):
        text = draw(st.sampled_from(["Done.", ""]))
        messages.append(AIMessage(text, response_metadata={STAMP: {"model": draw(st.sampled_from(MODELS))}}))
    return messages


threads = st.lists(turns(), max_size=5).map(lambda parts: [m for part in parts for m in part])


@given(threads, st.integers(0, 40), st.sampled_from(MODELS), st.none() | st.integers(0, 60))
def test_p3_any_part_of_any_thread_is_a_valid_history(
    thread: list[AnyMessage], cut: int, model: str, budget: int | None
) -> None:
    sent = prepare_history([SystemMessage("You are Echo."), *thread[cut:]], model, budget)
    conversation = sent[1:]
    assert not conversation or isinstance(conversation[0], HumanMessage)
    waiting: list[str] = []
    for message in conversation:
        if isinstance(message, ToolMessage):
            assert waiting.pop(0) == message.tool_call_id, "results follow their calls, in the same order"
            continue
        assert waiting == [], "all calls are answered before the next message"
        if isinstance(message, AIMessage):
            assert message.text or message.tool_calls, "no empty message is sent"
            waiting = [str(call["id"]) for call in message.tool_calls]
        else:
            assert message.text.strip()
    assert waiting == []


@given(turns())
def test_p3_a_result_stays_with_its_own_call_when_ids_repeat(turn: list[AnyMessage]) -> None:
    model = MODELS[0]
    for message in turn:
        message.response_metadata = {STAMP: {"model": model}}
    calls = [m for m in prepare_history(turn, model) if isinstance(m, (AIMessage, ToolMessage))]
    given_after = {
        (place, m.tool_call_id): m.text for place, m in _after_their_calls(turn) if isinstance(m, ToolMessage)
    }
    for place, m in _after_their_calls(calls):
        if isinstance(m, ToolMessage):
            assert m.text == given_after.get((place, m.tool_call_id), UNANSWERED)


def test_p3_calls_with_a_shared_or_missing_id_are_each_answered() -> None:
    model = {STAMP: {"model": MODELS[0]}}
    for ids in (["a", "a"], ["", ""], [None]):
        calls: Any = [{"name": "look", "args": {}, "id": call} for call in ids]
        results = [
            ToolMessage(f"found {n}", tool_call_id=call or "")
            for n, call in enumerate(ids)
            if call is not None
        ]
        request = AIMessage("", tool_calls=calls, response_metadata=model)
        sent = prepare_history([HumanMessage("Hi"), request, *results, HumanMessage("So?")], MODELS[0])
        texts = [message.text for message in sent if isinstance(message, ToolMessage)]
        assert texts == ([result.text for result in results] or [UNANSWERED])


PICTURE = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}


@given(st.lists(st.sampled_from(["", " \n", "tea", PICTURE]), min_size=1))
def test_p3_blank_text_parts_are_removed(parts: list[Any]) -> None:
    content = [part if isinstance(part, dict) else {"type": "text", "text": part} for part in parts]
    sent = prepare_history([HumanMessage(content)], MODELS[0])
    expected = [part for part in parts if part == PICTURE or part == "tea"]
    assert [part.get("text", part) for message in sent for part in message.content] == expected


def _after_their_calls(messages: Sequence[AnyMessage]) -> list[tuple[int, AnyMessage]]:
    """Return each message with the number of preceding messages that contain calls."""
    seen, placed = 0, []
    for message in messages:
        seen += isinstance(message, AIMessage) and bool(message.tool_calls)
        placed.append((seen, message))
    return placed


@given(threads, st.sampled_from(MODELS))
def test_p1_signatures_are_sent_to_their_own_model_only(thread: list[AnyMessage], model: str) -> None:
    for message in prepare_history(thread, model):
        if isinstance(message, AIMessage) and message.tool_calls:
            own = message.response_metadata[STAMP]["model"] == model
            assert bool(message.additional_kwargs.get(SIGNATURES)) == own


@given(threads, st.sampled_from(MODELS))
def test_p2_the_thread_itself_is_unchanged(thread: list[AnyMessage], model: str) -> None:
    before = [message.model_dump() for message in thread]
    prepare_history(thread, model, 20)
    assert [message.model_dump() for message in thread] == before


@given(threads, st.integers(0, 80))
def test_trimming_removes_whole_turns_oldest_first(thread: list[AnyMessage], budget: int) -> None:
    whole = split_turns(thread)
    kept = trim_turns(whole, budget)
    assert kept == whole[len(whole) - len(kept) :]
    assert kept or not whole
    if len(kept) > 1:
        assert sum(message_tokens(m) for turn in kept for m in turn) <= budget
