"""Long tool results: moved to session memory and replaced by a reference."""

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
"""Maximum tokens of a result that stays in the context."""

BEGINNING: Final = 400
"""Characters of a moved result that the model still sees."""

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
"""Tools that limit the length of their results themselves."""

MOVED: Final = (
    "This result of {tokens:,} tokens was moved to session memory: search it with `search_sessions_context`, "
    'source_id="{source_id}". It begins:\n{beginning}'
)


async def without_long_results(messages: Sequence[Any], runtime: Runtime[Context]) -> list[Any]:
    """Move long results to session memory and return the messages with references in their place.

    Args:
        messages: The results of tool calls.
        runtime: The run's runtime.
    """
    return [await _moved(message, runtime) if _is_long(message) else message for message in messages]


def _is_long(message: Any) -> bool:
    return (
        isinstance(message, ToolMessage)
        and message.name not in BUDGETED
        and estimate_tokens(message.text) > LONGEST_RESULT
    )


async def _moved(message: ToolMessage, runtime: Runtime[Context]) -> ToolMessage:
    identity = identity_of(runtime)
    if not identity.chat_id:
        return message  # a run without a thread has no session
    session = await context_of(runtime).services().session()
    # Derived from the content: some models number their calls from zero in every turn.
    digest = sha256(message.text.encode("utf-8", "replace")).hexdigest()[:DIGEST]
    source_id, name = f"{message.name}_{digest}", f"result of {message.name}"
    try:
        await session.save(identity.user_id, identity.chat_id, source_id, message.text, name=name)
    except (InvalidInput, DiskFull, OSError):
        logger.exception("could not move the %s to session memory; it stays in the context", name)
        return message
    beginning = block("result", message.text[:BEGINNING], note=DATA)
    content = MOVED.format(tokens=estimate_tokens(message.text), source_id=source_id, beginning=beginning)
    return message.model_copy(update={"content": content})
