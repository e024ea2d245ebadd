"""The reducer for the messages of a thread."""

from collections.abc import Sequence
from reprlib import repr as short_repr
from typing import cast
from uuid import uuid4

from langchain_core.messages import AnyMessage, RemoveMessage, convert_to_messages, message_chunk_to_message
from langgraph.graph.message import REMOVE_ALL_MESSAGES, Messages

from cognition.errors import InvalidInput


def fold_messages(messages: Sequence[AnyMessage], writes: Sequence[Messages]) -> list[AnyMessage]:
    """Apply writes in order: each message is appended, replaces the message with its id, or removes it.

    Gives the same result as LangGraph's `add_messages` for each write, but in one pass: a thread is rebuilt
    from hundreds of writes at the start of each turn, and one pass over the list per write would take
    quadratic time. The delta channel requires that folding two batches equals folding their concatenation.

    Raises:
        InvalidInput: If a write is not a message, or a message to remove does not exist.
    """
    kept = {cast("str", message.id): message for message in messages}
    for write in writes:
        for message in _messages(write):
            if message.id == REMOVE_ALL_MESSAGES:
                kept.clear()
            elif isinstance(message, RemoveMessage):
                if kept.pop(cast("str", message.id), None) is None:
                    msg = f"Can't remove the message {message.id!r}: the thread has no message with this id."
                    raise InvalidInput(msg)
            else:
                message.id = message.id or str(uuid4())
                kept[message.id] = message
    return list(kept.values())


def _messages(write: Messages) -> list[AnyMessage]:
    messages = write if isinstance(write, list) else [write]
    try:
        return [cast("AnyMessage", message_chunk_to_message(m)) for m in convert_to_messages(messages)]
    except (NotImplementedError, ValueError) as error:
        msg = f"Invalid messages {short_repr(write)}: expected {{'role': 'user', 'content': '…'}}, or a list."
        raise InvalidInput(msg) from error
