"""Semantic fusion: a new fact refreshes, replaces or extends a memory, or becomes a new one."""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from cognition.errors import InvalidInput
from cognition.memory.long_term.memory import AXIOM, KEPT_TEXTS, Memory

SAME_ID_SIMILARITY: Final = 0.55
"""Minimum similarity at which a fact with the id of a memory is about the same thing."""

CLOSE_SIMILARITY: Final = 0.85
"""Minimum similarity at which two facts with different ids may be the same."""

TEXT_FIELDS: Final = ("fact", "language", "origin", "memory_importance")
"""The fields that are saved and restored together with a text."""

FusionOutcome = Literal["new", "refreshed", "replaced", "merged", "known"]


@dataclass(frozen=True)
class Near:
    """A memory that is similar to a new fact."""

    memory: Memory
    similarity: float


def refreshed(memory: Memory, new: Memory) -> Memory:
    """Return the memory with the higher importance, the tags of both, and the new fact's timestamp."""
    return replace(
        memory,
        memory_importance=max(memory.memory_importance, new.memory_importance),
        tags=_united(memory.tags, new.tags),
        origin="user" if "user" in (memory.origin, new.origin) else memory.origin,
        updated_at=new.updated_at,
    )


def replaced(memory: Memory, new: Memory) -> Memory:
    """Return the memory with the new fact's text, chat and origin; the older text moves to `superseded`."""
    updated = replace(
        refreshed(memory, new),
        artifact_name=new.artifact_name,
        fact=new.fact,
        language=new.language,
        origin=new.origin,
        chat_id=new.chat_id,
        superseded=[*memory.superseded, _older(memory, new.updated_at)][-KEPT_TEXTS:],
    )
    return within_origin(updated)


def within_origin(memory: Memory) -> Memory:
    """Return the memory, demoted from axiom if the user did not say it: documents can be wrong."""
    if memory.memory_importance == AXIOM and memory.origin != "user":
        return replace(memory, memory_importance=AXIOM - 1)
    return memory


def undone(memory: Memory, now: float) -> Memory:
    """Return the memory with its last older text restored. The current text becomes an older one.

    Raises:
        InvalidInput: If there is no older text.
    """
    if not memory.superseded:
        msg = f"The memory {memory.memory_id!r} has no older text to restore."
        raise InvalidInput(msg)
    *older, last = memory.superseded
    restored = {name: last[name] for name in TEXT_FIELDS}
    return replace(memory, **restored, superseded=[*older, _older(memory, now)], updated_at=now)


def _older(memory: Memory, now: float) -> dict[str, Any]:
    return {**{name: getattr(memory, name) for name in TEXT_FIELDS}, "at": now}


def _united(old: list[str], new: list[str]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))
