"""How writes to a thread's messages add up."""

from collections.abc import Sequence
from typing import cast

from langchain_core.messages import AnyMessage
from langgraph.graph.message import Messages, add_messages


def fold_messages(messages: list[AnyMessage], writes: Sequence[Messages]) -> list[AnyMessage]:
    """Apply writes one after the other: appended, replaced by id, or removed.

    Folding two batches gives the same as folding their concatenation, which the delta channel relies on.
    """
    for write in writes:
        messages = cast("list[AnyMessage]", add_messages(cast("Messages", messages), write))
    return messages
