"""What a model is told of the moment: where it stands, and what happened since the last turn."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from cognition.messages.context_window import ADVISED_FROM
from cognition.state.turn import Turn
from cognition.storage.resources import Resource
from cognition.text.blocks import DATA, block
from cognition.text.plural import pluralize
from cognition.text.truncate import shorten

KEEP_ASIDE: Final = "Keep long text that you will need again with `save_session_context`, and search it instead of repeating it."
LEFT: Final = (
    "Not shown of this chat: its {turns}. `search_sessions_context` with source_id "
    '"conversation_history" finds what was said there.'
)
CLOSED: Final = (
    "The session of this chat was closed since the last turn: its files and notes are deleted, and what was said is "
    "being indexed anew. Tell the user if it matters."
)
MORE: Final = "`query_registry` tells more of them."
MOST_EVENTS: Final = 20
"""Resources that are named; of a folder of a thousand files the rest is counted."""
LONGEST_REASON: Final = 200
"""Characters of why something went wrong."""


def environment_block(
    turn: Turn, moment: datetime, *, number: int, fill: float, left: int, closed: bool, user_name: str
) -> str:
    """The `<environnement_contexte>` block.

    Args:
        turn: The account of the turn.
        moment: Now, with its zone.
        number: Which turn of the chat this is, from 1.
        fill: The part of the context that is taken, 0–1.
        left: Turns that left the prompt.
        closed: Whether the session was closed since the last turn.
        user_name: How the user may be called; empty when unknown.
    """
    lines = [
        f"model: {turn['level']} now, {turn['level_start']} at the start of the turn",
        f"time: {moment:%A %Y-%m-%d %H:%M} {moment.tzname()} ({moment:%z})",
        f"turn: {number}",
        f"context: {fill:.0%} full" + (f". {KEEP_ASIDE}" if fill >= ADVISED_FROM else ""),
        *([LEFT.format(turns=pluralize(left, "oldest turn"))] if left else []),
        *([CLOSED] if closed else []),
        *([f"user: {' '.join(user_name.split())}"] if user_name.strip() else []),
    ]
    return block("environnement_contexte", "\n".join(lines))


def events_block(resources: Sequence[Resource], more: int = 0) -> str:
    """The `<evenement_systeme>` block of resources that were created or changed; empty when there are none.

    Args:
        resources: Those that are named.
        more: How many others there are.
    """
    if not resources:
        return ""
    lines = [*map(_event, resources), *([f"- and {more:,} more"] if more else [])]
    return block("evenement_systeme", "\n".join([*lines, MORE]), note=DATA)


def _event(resource: Resource) -> str:
    line = f"- {resource.status}: {resource.name} ({resource.resource_type}), source_id {resource.id}"
    return f"{line}: {shorten(resource.error, LONGEST_REASON)}" if resource.error else line
