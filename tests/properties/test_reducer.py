"""How writes to a thread's messages add up."""

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
    """Writes that can be made one after the other: only what is there is removed."""
    there: set[str] = set()
    made: list[Messages] = []
    for number in range(draw(st.integers(0, 8))):
        write: list[BaseMessage] = []
        for message_id in draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4)):
            if message_id in there and draw(st.booleans()):
                write.append(RemoveMessage(message_id))
                there.discard(message_id)
            else:
                made_by = draw(st.sampled_from([HumanMessage, AIMessage]))
                write.append(made_by(f"{message_id}{number}", id=message_id))
                there.add(message_id)
        if draw(st.integers(0, 9)) == 0:
            write.append(RemoveMessage(REMOVE_ALL_MESSAGES))
            there.clear()
        made.append(cast("Messages", write))
    return made


@given(writes(), st.data())
def test_p28_folding_batches_is_folding_all_at_once(made: list[Messages], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(made)))
    assert fold_messages(fold_messages([], made[:cut]), made[cut:]) == fold_messages([], made)


@given(writes())
def test_folding_does_what_langgraph_does_write_by_write(made: list[Messages]) -> None:
    one_by_one: Messages = []
    for write in made:
        one_by_one = add_messages(one_by_one, write)
    assert fold_messages([], made) == one_by_one


@given(writes())
def test_folding_leaves_what_it_is_given_as_it_is(made: list[Messages]) -> None:
    before = deepcopy(made)
    state = fold_messages([], made)
    copied = list(state)
    fold_messages(state, [HumanMessage("more", id="z")])
    assert made == before
    assert state == copied


@pytest.mark.parametrize("written", [None, [None], [5], [{"foo": 1}], [{"role": "user", "content": [["a"]]}]])
def test_what_is_no_message_is_refused_in_a_sentence(written: Any) -> None:
    with pytest.raises(InvalidInput, match="can't be read as messages"):
        fold_messages([], [written])


def test_a_message_that_is_not_there_is_not_removed() -> None:
    with pytest.raises(ValueError, match="'gone'"):
        fold_messages([], [RemoveMessage("gone")])
