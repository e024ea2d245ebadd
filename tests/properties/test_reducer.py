"""Properties of the messages reducer: batches of writes add up to the same state."""

from copy import deepcopy
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, Messages, add_messages

from cognition.errors import InvalidInput
from cognition.messages.reducer import fold_messages

IDS = "abcdef"


@st.composite
def writes(draw: st.DrawFn) -> list[Messages]:
    """Generate a valid sequence of writes, which removes only existing messages."""
    present: set[str] = set()
    batches: list[Messages] = []
    for number in range(draw(st.integers(0, 8))):
        write: list[BaseMessage] = []
        for message_id in draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4)):
            if message_id in present and draw(st.booleans()):
                write.append(RemoveMessage(message_id))
                present.discard(message_id)
            else:
                message_type = draw(st.sampled_from([HumanMessage, AIMessage]))
                write.append(message_type(f"{message_id}{number}", id=message_id))
                present.add(message_id)
        if draw(st.integers(0, 9)) == 0:
            write.append(RemoveMessage(REMOVE_ALL_MESSAGES))
            present.clear()
        batches.append(cast("Messages", write))
    return batches


@given(writes(), st.data())
def test_p28_folding_batches_is_folding_all_at_once(batches: list[Messages], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(batches)))
    assert fold_messages(fold_messages([], batches[:cut]), batches[cut:]) == fold_messages([], batches)


@given(writes())
def test_folding_equals_langgraphs_write_by_write_result(batches: list[Messages]) -> None:
    one_by_one: Messages = []
    for write in batches:
        one_by_one = add_messages(one_by_one, write)
    assert fold_messages([], batches) == one_by_one


@given(writes())
def test_folding_does_not_modify_its_input(batches: list[Messages]) -> None:
    before = deepcopy(batches)
    state = fold_messages([], batches)
    copied = list(state)
    fold_messages(state, [HumanMessage("more", id="z")])
    assert batches == before
    assert state == copied


@pytest.mark.parametrize("written", [None, [None], [5], [{"foo": 1}], [{"role": "user", "content": [["a"]]}]])
def test_an_invalid_message_is_rejected(written: Any) -> None:
    with pytest.raises(InvalidInput, match="Invalid messages"):
        fold_messages([], [written])


def test_removing_an_unknown_message_is_an_error() -> None:
    with pytest.raises(ValueError, match="'gone'"):
        fold_messages([], [RemoveMessage("gone")])
