"""Apply a model's outcome to a turn: its account, its message, and a requested transfer."""

import logging
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.runtime import Runtime

from cognition.context import Context, context_of
from cognition.errors import InvalidInput
from cognition.levels import TRANSFER_TOOL
from cognition.messages.history import STAMP
from cognition.models.outcome import Answer, Failure
from cognition.state.turn import Transfer, Turn, transfer_error, with_answer, with_failure
from cognition.text.truncate import shorten

logger = logging.getLogger(__name__)

TOOL_ERROR: Final = 1_000
"""Maximum characters of a tool's error in its result; the error for an invalid call quotes the whole call."""


def apply_outcome(
    outcome: Answer | Failure, turn: Turn, runtime: Runtime[Context]
) -> tuple[Turn, list[AnyMessage]]:
    """Return the turn after an outcome, and the messages to add to the conversation.

    A failure adds a message with its explanation. A message whose only tool call is a valid transfer is not
    added; one with other calls is added unchanged.
    """
    if isinstance(outcome, Failure):
        stamp = {"level": outcome.role, "model": outcome.model, "error": outcome.kind}
        message = AIMessage(outcome.sentence, response_metadata={STAMP: stamp})
        return with_failure(turn, outcome), [message]
    transfer = _transfer(outcome.message, turn, runtime)
    alone = transfer is not None and len(outcome.message.tool_calls) == 1
    return with_answer(turn, outcome, transfer), [] if alone else [outcome.message]


def tool_error(error: Exception) -> str:
    """Return the tool result for an exception; bugs are also logged with their traceback."""
    if not isinstance(error, (ToolInvocationError, InvalidInput)):
        logger.error("a tool failed", exc_info=error)
    return f"Error: {shorten(str(error), TOOL_ERROR)}. Correct the call, or answer without it."


def _transfer(message: AIMessage, turn: Turn, runtime: Runtime[Context]) -> Transfer | None:
    """Return the first valid transfer among the calls."""
    context = context_of(runtime)
    for call in message.tool_calls:
        if call["name"] == TRANSFER_TOOL:
            target: Any = call["args"].get("target_model")
            plan: Any = call["args"].get("transfer_plan")
            if not transfer_error(target, plan, turn, context.policy, context.services().settings):
                return Transfer(target=target, plan=plan, text=message.text.strip())
    return None
