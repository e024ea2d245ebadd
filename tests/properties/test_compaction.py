"""Properties of compaction: whole exchanges are condensed, the oldest first."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from cognition.delegation.compaction import KEPT_WHOLE, oldest_exchanges
from cognition.messages.context_window import TRIMMED_FROM
from cognition.messages.history import message_tokens, split_turns
from tests.properties.test_history import threads


@given(threads, st.integers(1, 200))
def test_p3_whole_exchanges_are_kept_or_condensed(thread: list[AnyMessage], window: int) -> None:
    removed = oldest_exchanges(thread, window)
    turns = split_turns(thread)
    messages = [message for turn in turns for message in turn]
    assert removed == messages[: len(removed)], "the oldest messages, in order"
    kept = messages[len(removed) :]
    assert not messages or isinstance(kept[0], HumanMessage)
    for part in (removed, kept):
        calls = {str(c["id"]) for m in part if isinstance(m, AIMessage) for c in m.tool_calls}
        assert {m.tool_call_id for m in part if isinstance(m, ToolMessage)} <= calls, (
            "calls stay with their results"
        )


@given(threads, st.integers(1, 200))
def test_only_as_much_as_necessary_is_condensed(thread: list[AnyMessage], window: int) -> None:
    removed = oldest_exchanges(thread, window)
    turns = split_turns(thread)
    sizes = [sum(map(message_tokens, turn)) for turn in turns]
    if sum(sizes) <= window * TRIMMED_FROM:
        assert removed == []
    elif len(turns) > 1:
        kept = sum(sizes) - sum(map(message_tokens, removed))
        assert kept <= window * KEPT_WHOLE or kept == sizes[-1]
