"""Long-term memory as plain JSON, for the command line and the HTTP API."""

from typing import Any, Final

from cognition.dates import read_period
from cognition.errors import InvalidInput
from cognition.memory.long_term.memory import Memory
from cognition.memory.long_term.store import LongTermMemory

MAX_LISTED: Final = 100_000
"""Maximum number of memories in a listing."""

LISTED_FIELDS: Final = (
    "memory_id",
    "artifact_name",
    "fact",
    "memory_importance",
    "tags",
    "updated_on",
    "chat_id",
    "superseded",
)


async def list_memories(
    memory: LongTermMemory,
    user_id: str,
    *,
    query: str = "",
    artifact_name: str = "",
    limit: int = 20,
    start_date: str = "",
    end_date: str = "",
) -> dict[str, Any]:
    """List a user's memories, newest first with counts; with a query, search them, best match first.

    Raises:
        InvalidInput: If the user is blank, or the limit or a date is invalid.
    """
    if not 1 <= limit <= MAX_LISTED:
        msg = f"Invalid limit {limit!r}: expected an integer from 1 to {MAX_LISTED:,}."
        raise InvalidInput(msg)
    period = read_period(start_date, end_date)
    if query.strip():
        hits = await memory.search(user_id, query, artifact_name=artifact_name, limit=limit, period=period)
        rows = [{**_row(hit.memory), "score": round(hit.score, 3)} for hit in hits]
        return {"user_id": user_id, "query": query, "memories": rows}
    index = await memory.index(user_id, artifact_name=artifact_name, limit=limit, period=period)
    return {
        "user_id": user_id,
        "total": index.total,
        "artifacts": index.artifacts,
        "tags": index.tags,
        "memories": [_row(m) for m in index.memories],
    }


async def delete_memory(memory: LongTermMemory, user_id: str, memory_id: str) -> dict[str, Any]:
    """Delete a memory permanently. Return whether it existed and, if not, the most similar ids."""
    deleted = await memory.delete(user_id, memory_id)
    return {"memory_id": memory_id, "found": deleted.found, "nearest": list(deleted.nearest)}


async def undo_memory(memory: LongTermMemory, user_id: str, memory_id: str) -> dict[str, Any]:
    """Restore the previous text of a memory. `memory` is None if the memory does not exist.

    Raises:
        InvalidInput: If the memory has no older text.
    """
    restored = await memory.undo(user_id, memory_id)
    return {"memory_id": memory_id, "memory": _row(restored) if restored else None}


def _row(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in LISTED_FIELDS}
