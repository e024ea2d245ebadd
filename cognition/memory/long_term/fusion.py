"""Semantic fusion: whether a new fact refreshes, replaces or joins a memory, or is a new one."""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from cognition.errors import InvalidInput
from cognition.memory.long_term.memory import AXIOM, KEPT_TEXTS, Memory

SAME_ID_SIMILARITY: Final = 0.55
"""From here a fact with the id of a memory is about the same thing."""

CLOSE_SIMILARITY: Final = 0.85
"""From here two facts with different ids may be one."""

OF_A_TEXT: Final = ("fact", "language", "origin", "memory_importance")
"""What belongs to a text, and is kept and brought back with it."""

FusionOutcome = Literal["new", "refreshed", "replaced", "merged", "known"]


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
    )


def replaced(memory: Memory, new: Memory) -> Memory:
    """The memory with the new fact's text, where and by whom it was said; the older goes to `superseded`."""
    taken = replace(
        refreshed(memory, new),
        artifact_name=new.artifact_name,
        fact=new.fact,
        language=new.language,
        origin=new.origin,
        chat_id=new.chat_id,
        superseded=[*memory.superseded, _older(memory, new.updated_at)][-KEPT_TEXTS:],
    )
    return within_origin(taken)


def within_origin(memory: Memory) -> Memory:
    """The memory, no axiom if its text is not the user's: what a document says is never beyond doubt."""
    if memory.memory_importance == AXIOM and memory.origin != "user":
        return replace(memory, memory_importance=AXIOM - 1)
    return memory


def undone(memory: Memory, now: float) -> Memory:
    """The memory with its last older text; the text of now takes that one's place, so that nothing is lost.

    Raises:
        InvalidInput: There is no older text.
    """
    if not memory.superseded:
        msg = f"{memory.memory_id!r} has no older text to bring back."
        raise InvalidInput(msg)
    *older, last = memory.superseded
    back = {name: last[name] for name in OF_A_TEXT}
    return replace(memory, **back, superseded=[*older, _older(memory, now)], updated_at=now)


def _older(memory: Memory, now: float) -> dict[str, Any]:
    return {**{name: getattr(memory, name) for name in OF_A_TEXT}, "at": now}


def _united(old: list[str], new: list[str]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))
