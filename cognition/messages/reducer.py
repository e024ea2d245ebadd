"""How writes to a thread's messages add up."""

from collections.abc import Sequence
from reprlib import repr as short_repr
from typing import cast
from uuid import uuid4

from langchain_core.messages import AnyMessage, RemoveMessage, convert_to_messages, message_chunk_to_message
from langgraph.graph.message import REMOVE_ALL_MESSAGES, Messages

from cognition.errors import InvalidInput


def fold_messages(messages: Sequence[AnyMessage], writes: Sequence[Messages]) -> list[AnyMessage]:
    """Apply writes one after the other: a message is appended, replaces the one of its id, or removes it.

    What LangGraph's `add_messages` does write by write, in one pass: a thread is rebuilt from hundreds of
    writes at the start of each turn, and passing over the whole list for each would grow with its square.
    Folding two batches gives the same as folding their concatenation, which the delta channel relies on.

    Raises:
        InvalidInput: What is written is no message, or a message to be removed is not there.
    """
    kept = {cast("str", message.id): message for message in messages}
    for write in writes:
        for message in _messages(write):
            if message.id == REMOVE_ALL_MESSAGES:
                kept.clear()
            elif isinstance(message, RemoveMessage):
                if kept.pop(cast("str", message.id), None) is None:
                    msg = f"The message {message.id!r} can't be removed: the thread has none of that id."
                    raise InvalidInput(msg)
            else:
                message.id = message.id or str(uuid4())
                kept[message.id] = message
    return list(kept.values())


def _messages(write: Messages) -> list[AnyMessage]:
    many = write if isinstance(write, list) else [write]
    try:
        return [cast("AnyMessage", message_chunk_to_message(m)) for m in convert_to_messages(many)]
    except (NotImplementedError, ValueError) as error:
        msg = f"{short_repr(write)} can't be read as messages: write {{'role': 'user', 'content': '…'}}."
        raise InvalidInput(msg) from error
