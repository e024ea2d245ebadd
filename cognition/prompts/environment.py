"""Prompt blocks about the state of the turn and about events since the last one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from cognition.messages.context_window import ADVISED_FROM
from cognition.state.turn import Turn
from cognition.storage.resources import Resource
from cognition.text.blocks import DATA, block
from cognition.text.plural import pluralize
from cognition.text.truncate import shorten

SAVE_HINT: Final = "Save long text that you will need again with `save_session_context`, and search it instead of repeating it."
"""Shown when the context fills up."""
OMITTED_TURNS: Final = (
    "Not shown: the {turns} of this chat. `search_sessions_context` with source_id "
    '"conversation_history" searches them.'
)
"""Shown when old turns no longer fit the prompt."""

SESSION_CLOSED: Final = (
    "The session of this chat was closed since the last turn: its files and saved texts were deleted, and the "
    "conversation is being indexed again. Tell the user if it matters."
)
"""Shown in the first turn after a session was closed."""

REGISTRY_HINT: Final = "`query_registry` shows more about them."
"""The last line of the events block."""

MOST_EVENTS: Final = 20
"""Maximum number of resources to name; the rest, such as those of a large folder, are only counted."""

LONGEST_REASON: Final = 200
"""Maximum characters of an error in the events block."""


def environment_block(
    turn: Turn, moment: datetime, *, number: int, fill: float, left: int, closed: bool, user_name: str
) -> str:
    """Render the `<environnement_contexte>` block.

    Args:
        turn: The record of the turn.
        moment: The current time, with its time zone.
        number: The number of the turn in the chat, from 1.
        fill: The used share of the context, 0–1.
        left: The number of old turns omitted from the prompt.
        closed: True if the session was closed since the last turn.
        user_name: The user's name; empty if unknown.
    """
    lines = [
        f"model: {turn['level']} now, {turn['level_start']} at the start of the turn",
        f"time: {moment:%A %Y-%m-%d %H:%M} {moment.tzname()} ({moment:%z})",
        f"turn: {number}",
        f"context: {fill:.0%} full" + (f". {SAVE_HINT}" if fill >= ADVISED_FROM else ""),
        *([OMITTED_TURNS.format(turns=pluralize(left, "oldest turn"))] if left else []),
        *([SESSION_CLOSED] if closed else []),
        *([f"user: {' '.join(user_name.split())}"] if user_name.strip() else []),
    ]
    return block("environnement_contexte", "\n".join(lines))


def events_block(resources: Sequence[Resource], more: int = 0) -> str:
    """Render the `<evenement_systeme>` block of new and changed resources; empty if there are none.

    Args:
        resources: The resources to name.
        more: The number of further resources.
    """
    if not resources:
        return ""
    lines = [*map(_event, resources), *([f"- and {more:,} more"] if more else [])]
    return block("evenement_systeme", "\n".join([*lines, REGISTRY_HINT]), note=DATA)


def _event(resource: Resource) -> str:
    line = f"- {resource.status}: {resource.name} ({resource.resource_type}), source_id {resource.id}"
    return f"{line}: {shorten(resource.error, LONGEST_REASON)}" if resource.error else line
