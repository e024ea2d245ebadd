"""What a model's outcome makes of a turn: its account, its message, and the transfer that it asks for."""

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
from cognition.state.turn import Transfer, Turn, refused_transfer, with_answer, with_failure
from cognition.text.truncate import shorten

logger = logging.getLogger(__name__)

TOOL_ERROR: Final = 1_000
"""Characters of what a model is told of a tool that raised: a call with wrong arguments is quoted whole."""


def apply_outcome(
    outcome: Answer | Failure, turn: Turn, runtime: Runtime[Context]
) -> tuple[Turn, list[AnyMessage]]:
    """The turn after an outcome, and what of it belongs into the conversation.

    A failure is said in a sentence. A transfer that comes alone is not appended; beside other calls the
    message is kept whole.
    """
    if isinstance(outcome, Failure):
        stamp = {"level": outcome.role, "model": outcome.model, "error": outcome.kind}
        message = AIMessage(outcome.sentence, response_metadata={STAMP: stamp})
        return with_failure(turn, outcome), [message]
    transfer = _transfer(outcome.message, turn, runtime)
    alone = transfer is not None and len(outcome.message.tool_calls) == 1
    return with_answer(turn, outcome, transfer), [] if alone else [outcome.message]


def tool_error(error: Exception) -> str:
    """What a model is told of a tool that raised; a fault of the program is logged with its traceback."""
    if not isinstance(error, (ToolInvocationError, InvalidInput)):
        logger.error("a tool failed", exc_info=error)
    return f"Error: {shorten(str(error), TOOL_ERROR)}. Correct the call, or answer without it."


def _transfer(message: AIMessage, turn: Turn, runtime: Runtime[Context]) -> Transfer | None:
    """The first transfer among the calls that can be made."""
    context = context_of(runtime)
    for call in message.tool_calls:
        if call["name"] == TRANSFER_TOOL:
            target: Any = call["args"].get("target_model")
            plan: Any = call["args"].get("transfer_plan")
            if not refused_transfer(target, plan, turn, context.policy, context.services().settings):
                return Transfer(target=target, plan=plan, text=message.text.strip())
    return None
