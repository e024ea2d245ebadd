"""What is remembered, on the command line."""

from typing import Any

import typer

from apps.cli.client.connect import run_once
from apps.cli.terminal.language import terminal_language
from apps.cli.terminal.view import printable, show_told
from cognition.dates import InvalidDate, read_period
from cognition.errors import InvalidInput
from cognition.memory.long_term.labels import artifact_label, importance_label


def show(user: str, *, as_json: bool, **query: Any) -> None:
    """Print a user's memories, newest first, or with a query the ones that answer it.

    Raises:
        InvalidInput: A date can't be read.
    """
    try:
        read_period(query["start_date"], query["end_date"])
    except InvalidDate as error:
        told = str(error).replace("start_date '", "--from '").replace("end_date '", "--to '")
        raise InvalidInput(told) from None
    listing = run_once(lambda session: session.memories(user, **query))
    narrowed = any(value for name, value in query.items() if name != "limit")
    show_told(listing, table(listing, narrowed=narrowed), as_json=as_json)


def delete(user: str, memory_id: str) -> None:
    """Delete a memory.

    Raises:
        InvalidInput: There is none of that id.
    """
    told = run_once(lambda session: session.delete(user, memory_id))
    if not told["found"]:
        near = f" The nearest are: {', '.join(told['nearest'])}." if told["nearest"] else ""
        msg = f"No memory of {user!r} has the id {memory_id!r}.{near}"
        raise InvalidInput(msg)
    typer.echo(f"Deleted for good: {memory_id}")


def undo(user: str, memory_id: str) -> None:
    """Bring back the text that a memory had before.

    Raises:
        InvalidInput: There is no such memory, or it has no older text.
    """
    restored = run_once(lambda session: session.undo(user, memory_id))["memory"]
    if restored is None:
        msg = f"No memory of {user!r} has the id {memory_id!r}."
        raise InvalidInput(msg)
    typer.echo(printable(f"{memory_id} says again: {restored['fact']}"))


def table(listing: dict[str, Any], *, narrowed: bool) -> str:
    """A listing as lines: id, artifact, importance, date and fact of each memory.

    Args:
        listing: What `cognition.memory.long_term.listing.list_memories` tells.
        narrowed: Whether it is of what answers a question, of one artifact or of some time only.
    """
    memories = listing["memories"]
    if not memories:
        return "Nothing in memory answers that." if narrowed else "Nothing is remembered."
    lines = [_line(memory) for memory in memories]
    hidden = listing.get("total", 0) - len(memories)
    if hidden > 0:
        lines.append(f"… and {hidden} older.")
    return "\n".join(lines)


def _line(memory: dict[str, Any]) -> str:
    language = terminal_language()
    artifact = artifact_label(memory["artifact_name"], language)
    importance = importance_label(memory["memory_importance"], language)
    head = [memory["memory_id"], artifact, importance, memory["updated_on"]]
    if "score" in memory:
        head.append(f"{memory['score']:.2f}")
    fact = " ".join(memory["fact"].split())
    return f"{' · '.join(head)}\n  {fact}"
