"""The fill level of the model's context, and the trimming of turns that no longer fit."""

from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage

from cognition.messages.history import message_tokens

ADVISED_FROM: Final = 0.3
"""Fill level from which the model is advised to save text in session memory, and files leave the prompt."""

TRIMMED_FROM: Final = 0.6
"""Fill level from which the oldest turns leave the prompt."""

TRIMMED_TO: Final = 0.45
"""Fill level after trimming. It leaves room, so that the start of the prompt stays the same for many turns
and the provider can cache it."""


def filled(messages: Sequence[AnyMessage], window: int) -> float:
    """Return the share of the context that the next prompt takes; above 1 if it would not fit.

    Uses the provider's last token count plus an estimate for later messages, or an estimate for all messages
    if there is no count.

    Args:
        messages: The thread, oldest first.
        window: Size of the context in tokens.
    """
    since: list[AnyMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage) and message.usage_metadata:
            counted = message.usage_metadata["total_tokens"]
            return (counted + sum(map(message_tokens, since))) / window
        since.append(message)
    return sum(map(message_tokens, since)) / window


def turns_in_prompt(turns: list[list[AnyMessage]], window: int) -> list[list[AnyMessage]]:
    """Return the newest turns that take less than 60 % of the context; always keep the last one.

    The cut depends only on the thread and moves only when 60 % is reached again, so that turns which left the
    prompt never return.

    Args:
        turns: Complete turns, oldest first.
        window: Size of the context in tokens.
    """
    first = total = 0
    sizes = [sum(map(message_tokens, turn)) for turn in turns]
    for last, size in enumerate(sizes):
        total += size
        if total >= TRIMMED_FROM * window:
            while first < last and total > TRIMMED_TO * window:
                total -= sizes[first]
                first += 1
    return turns[first:]
