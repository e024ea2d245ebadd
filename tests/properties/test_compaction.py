"""What is condensed of any thread: whole exchanges from its beginning."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from cognition.delegation.compaction import KEPT_WHOLE, oldest_exchanges
from cognition.messages.context_window import TRIMMED_FROM
from cognition.messages.history import message_tokens, split_turns
from tests.properties.test_history import threads


@given(threads, st.integers(1, 200))
def test_p3_what_stays_and_what_goes_are_whole_exchanges(thread: list[AnyMessage], window: int) -> None:
    gone = oldest_exchanges(thread, window)
    turns = split_turns(thread)
    said = [message for turn in turns for message in turn]
    assert gone == said[: len(gone)], "the oldest, in their order"
    stays = said[len(gone) :]
    assert not said or isinstance(stays[0], HumanMessage)
    for part in (gone, stays):
        calls = {str(c["id"]) for m in part if isinstance(m, AIMessage) for c in m.tool_calls}
        assert {m.tool_call_id for m in part if isinstance(m, ToolMessage)} <= calls, "pairs stay together"


@given(threads, st.integers(1, 200))
def test_enough_goes_and_nothing_without_need(thread: list[AnyMessage], window: int) -> None:
    gone = oldest_exchanges(thread, window)
    turns = split_turns(thread)
    sizes = [sum(map(message_tokens, turn)) for turn in turns]
    if sum(sizes) <= window * TRIMMED_FROM:
        assert gone == []
    elif len(turns) > 1:
        stays = sum(sizes) - sum(map(message_tokens, gone))
        assert stays <= window * KEPT_WHOLE or stays == sizes[-1]
