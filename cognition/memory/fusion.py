"""Semantic fusion: whether a new fact refreshes, replaces or joins a memory, or is a new one."""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from cognition.memory.artifact import KEPT_TEXTS, Memory

SAME_ID_SIMILARITY: Final = 0.55
"""From here a fact with the id of a memory is about the same thing."""

CLOSE_SIMILARITY: Final = 0.85
"""From here two facts with different ids may be one."""

Outcome = Literal["new", "refreshed", "replaced", "merged", "known"]


@dataclass(frozen=True)
class Near:
    """A memory near to a new fact, with their similarity."""

    memory: Memory
    similarity: float


def refreshed(memory: Memory, new: Memory) -> Memory:
    """The memory confirmed: the larger importance, the tags of both, and the time of now."""
    return replace(
        memory,
        memory_importance=max(memory.memory_importance, new.memory_importance),
        tags=_united(memory.tags, new.tags),
        origin="user" if "user" in (memory.origin, new.origin) else memory.origin,
        updated_at=new.updated_at,
        distilled_until=new.distilled_until,
    )


def replaced(memory: Memory, new: Memory) -> Memory:
    """The memory with the new fact's text; the older text goes to `superseded`."""
    return replace(
        refreshed(memory, new),
        fact=new.fact,
        language=new.language,
        superseded=_kept(memory, new.updated_at),
    )


def undone(memory: Memory, now: float) -> Memory:
    """The memory with its last older text; the text of now takes that one's place, so that nothing is lost.

    Raises:
        ValueError: There is no older text.
    """
    if not memory.superseded:
        msg = f"{memory.memory_id!r} has no older text to bring back."
        raise ValueError(msg)
    *older, last = memory.superseded
    return replace(
        memory,
        fact=str(last["fact"]),
        superseded=[*older, {"fact": memory.fact, "at": now}],
        updated_at=now,
    )


def _kept(memory: Memory, now: float) -> list[dict[str, Any]]:
    return [*memory.superseded, {"fact": memory.fact, "at": now}][-KEPT_TEXTS:]


def _united(old: list[str], new: list[str]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))
