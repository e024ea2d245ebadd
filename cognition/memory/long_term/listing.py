"""Long-term memory as a person looks at it: plain JSON, the same on the command line and over HTTP."""

from typing import Any, Final

from cognition.dates import read_period
from cognition.errors import InvalidInput
from cognition.memory.long_term.memory import Memory
from cognition.memory.long_term.store import LongTermMemory

MOST_LISTED: Final = 100_000

SHOWN: Final = (
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
    """A user's memories: newest first with counts, or with a query the ones that answer it, best first.

    Raises:
        InvalidInput: The user is blank, the limit is none, or a date can't be read.
    """
    if not 1 <= limit <= MOST_LISTED:
        msg = f"limit {limit!r} must be from 1 to {MOST_LISTED:,}."
        raise InvalidInput(msg)
    period = read_period(start_date, end_date)
    if query.strip():
        found = await memory.search(user_id, query, artifact_name=artifact_name, limit=limit, period=period)
        rows = [{**_row(f.memory), "score": round(f.score, 3)} for f in found]
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
    """Delete a memory for good; says whether there was one, else the ids that look like it."""
    deleted = await memory.delete(user_id, memory_id)
    return {"memory_id": memory_id, "found": deleted.found, "nearest": list(deleted.nearest)}


async def undo_memory(memory: LongTermMemory, user_id: str, memory_id: str) -> dict[str, Any]:
    """Bring back the text that a memory had before its last change; `memory` is None when there is none.

    Raises:
        InvalidInput: It has no older text.
    """
    restored = await memory.undo(user_id, memory_id)
    return {"memory_id": memory_id, "memory": _row(restored) if restored else None}


def _row(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in SHOWN}
