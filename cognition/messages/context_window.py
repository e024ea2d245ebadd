"""The context gauge: how full the model's context is, and what follows from it."""

from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage

from cognition.messages.history import message_tokens

ADVISED_FROM: Final = 0.3
"""From here the model is advised to move text to session memory, and files leave the prompt."""

TRIMMED_FROM: Final = 0.6
"""From here the oldest turns leave the prompt."""

KEPT: Final = 0.45
"""What the others take then: less than would fit, so that the prompt begins the same for many turns, and the
provider's cache of it holds."""


def filled(messages: Sequence[AnyMessage], window: int) -> float:
    """The part of the context that the next prompt takes, 0–1 and above when it would not fit.

    The provider's last count, with what was said since; an estimate where no answer has a count.

    Args:
        messages: The thread, oldest first.
        window: Tokens that the model works with.
    """
    since: list[AnyMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage) and message.usage_metadata:
            counted = message.usage_metadata["total_tokens"]
            return (counted + sum(map(message_tokens, since))) / window
        since.append(message)
    return sum(map(message_tokens, since)) / window


def in_prompt(turns: list[list[AnyMessage]], window: int) -> list[list[AnyMessage]]:
    """The newest turns, which take less than 60 % of the context; the newest of all always stays.

    What left stays away: where the cut is depends on the thread alone, and moves when 60 % are reached again.

    Args:
        turns: Whole turns, oldest first.
        window: Tokens that the model works with.
    """
    first = total = 0
    sizes = [sum(map(message_tokens, turn)) for turn in turns]
    for last, size in enumerate(sizes):
        total += size
        if total >= TRIMMED_FROM * window:
            while first < last and total > KEPT * window:
                total -= sizes[first]
                first += 1
    return turns[first:]
