"""The `cognition memory` commands."""

from typing import Any

import typer

from apps.cli.client.connect import run_once
from apps.cli.terminal.language import terminal_language
from apps.cli.terminal.view import print_result, printable
from cognition.dates import InvalidDate, read_period
from cognition.errors import InvalidInput
from cognition.memory.long_term.labels import artifact_label, importance_label


def show(user: str, *, as_json: bool, **query: Any) -> None:
    """Print a user's memories: the newest first, or with a query the best matches first.

    Raises:
        InvalidInput: If a date is invalid.
    """
    try:
        read_period(query["start_date"], query["end_date"])
    except InvalidDate as error:
        msg = str(error).replace("start_date '", "--from '").replace("end_date '", "--to '")
        raise InvalidInput(msg) from None
    listing = run_once(lambda client: client.memories(user, **query))
    narrowed = any(value for name, value in query.items() if name != "limit")
    print_result(listing, table(listing, narrowed=narrowed), as_json=as_json)


def delete(user: str, memory_id: str) -> None:
    """Delete a memory permanently.

    Raises:
        InvalidInput: If the user has no such memory.
    """
    result = run_once(lambda client: client.delete(user, memory_id))
    if not result["found"]:
        similar = f" Similar ids: {', '.join(result['nearest'])}." if result["nearest"] else ""
        raise InvalidInput(_unknown(user, memory_id) + similar)
    typer.echo(f"Deleted permanently: {memory_id}")


def undo(user: str, memory_id: str) -> None:
    """Restore the text that a memory had before its last change.

    Raises:
        InvalidInput: If the user has no such memory, or it has no older text.
    """
    memory = run_once(lambda client: client.undo(user, memory_id))["memory"]
    if memory is None:
        raise InvalidInput(_unknown(user, memory_id))
    typer.echo(printable(f"Restored {memory_id}: {memory['fact']}"))


def table(listing: dict[str, Any], *, narrowed: bool) -> str:
    """Return memories as lines of id, artifact, importance, date and fact.

    Args:
        listing: The result of `cognition.memory.long_term.listing.list_memories`.
        narrowed: True if the listing is limited by a query, an artifact or dates.
    """
    memories = listing["memories"]
    if not memories:
        return "No matching memories." if narrowed else "No memories yet."
    lines = [_line(memory) for memory in memories]
    hidden = listing.get("total", 0) - len(memories)
    if hidden > 0:
        lines.append(f"… and {hidden} older.")
    return "\n".join(lines)


def _unknown(user: str, memory_id: str) -> str:
    return f"Unknown memory {memory_id!r} of user {user!r}: `cognition memory list` shows the memories."


def _line(memory: dict[str, Any]) -> str:
    language = terminal_language()
    artifact = artifact_label(memory["artifact_name"], language)
    importance = importance_label(memory["memory_importance"], language)
    head = [memory["memory_id"], artifact, importance, memory["updated_on"]]
    if "score" in memory:
        head.append(f"{memory['score']:.2f}")
    fact = " ".join(memory["fact"].split())
    return f"{' · '.join(head)}\n  {fact}"
