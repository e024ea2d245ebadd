"""Long results of tools: kept in session memory, with a line in their place."""

import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of, identity_of
from cognition.errors import InvalidInput
from cognition.storage.disk.free_space import DiskFull
from cognition.text.blocks import DATA, block
from cognition.text.tokens import estimate_tokens

logger = logging.getLogger(__name__)

LONGEST_RESULT: Final = 2_000
"""Tokens of a result that stay in the context."""

BEGINNING: Final = 400
"""Characters of a result that is moved that the model still sees."""

DIGEST: Final = 12

BUDGETED: Final = frozenset(
    {
        "search_meta_artifacts",
        "search_sessions_context",
        "save_session_context",
        "query_registry",
        "consult_council",
        "list_skills",
        "list_agent_sessions",
    }
)
"""Tools whose results carry a budget of their own."""

MOVED: Final = (
    "This result of {tokens:,} tokens was moved to session memory: `search_sessions_context` with "
    'source_id="{source_id}" finds what it says. It begins:\n{beginning}'
)


async def without_long_results(messages: Sequence[Any], runtime: Runtime[Context]) -> list[Any]:
    """The messages, each long result replaced by a line once it is searchable.

    Args:
        messages: What a step of tools answered.
        runtime: The run's.
    """
    return [await _short(message, runtime) if _is_long(message) else message for message in messages]


def _is_long(message: Any) -> bool:
    return (
        isinstance(message, ToolMessage)
        and message.name not in BUDGETED
        and estimate_tokens(message.text) > LONGEST_RESULT
    )


async def _short(message: ToolMessage, runtime: Runtime[Context]) -> ToolMessage:
    identity = identity_of(runtime)
    if not identity.chat_id:
        return message  # a run on no thread has no session
    session = await context_of(runtime).services().session()
    # By what it says: some models number their calls from zero in every turn.
    digest = sha256(message.text.encode("utf-8", "replace")).hexdigest()[:DIGEST]
    source_id, name = f"{message.name}_{digest}", f"result of {message.name}"
    try:
        await session.save(identity.user_id, identity.chat_id, source_id, message.text, name=name)
    except (InvalidInput, DiskFull, OSError):
        logger.exception("the %s stays in the context", name)
        return message
    beginning = block("result", message.text[:BEGINNING], note=DATA)
    told = MOVED.format(tokens=estimate_tokens(message.text), source_id=source_id, beginning=beginning)
    return message.model_copy(update={"content": told})
