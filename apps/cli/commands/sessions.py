"""The `cognition sessions` commands."""

from datetime import UTC, datetime
from textwrap import shorten
from typing import Any

from rich.filesize import decimal

from apps.cli.client.chat_ids import chat_label, check_known
from apps.cli.client.connect import run_once
from apps.cli.commands.ingest import status_text
from apps.cli.terminal.view import print_result
from cognition.text.plural import pluralize

LONGEST_ABOUT = 100
"""Maximum length of a line that describes contents, in characters."""

KEPT = "The chat's messages and the user's memories are kept."


def show_all(user: str, *, as_json: bool) -> None:
    """Print a user's sessions, most recently changed first."""
    listing = run_once(lambda client: client.sessions(user))
    text = "\n".join(map(_session, listing["sessions"])) or "No chats with files, sources or sub-agents."
    print_result(listing, text, as_json=as_json)


def show(user: str, chat: str, *, as_json: bool) -> None:
    """Print the contents of a session.

    Raises:
        InvalidInput: If the user has no such chat.
    """
    check_known(user, chat)
    session = run_once(lambda client: client.show(user, chat))
    parts = [
        *(_resource(resource) for resource in session["resources"]),
        *(_source(source) for source in session["sources"]),
        *(_agent(agent) for agent in session["agents"]),
    ]
    empty = f"Chat {chat_label(session)!r} holds no files, sources or sub-agents."
    print_result(session, "\n".join(parts) or empty, as_json=as_json)


def close(user: str, chat: str, *, as_json: bool) -> None:
    """Delete the contents of a session, and print how many items were deleted.

    Raises:
        InvalidInput: If the user has no such chat.
    """
    check_known(user, chat)
    result = run_once(lambda client: client.close(user, chat))
    counts = _counts(result)
    nothing = f"Chat {chat_label(result)!r} had nothing to delete."
    deleted = f"Deleted permanently: {', '.join(counts)}." if counts else nothing
    print_result(result, f"{deleted} {KEPT}", as_json=as_json)


def _counts(row: dict[str, Any]) -> list[str]:
    """Return the number of items of each kind, without the kinds that have none."""
    kinds = {"resources": "file", "sources": "source", "agents": "sub-agent"}
    return [pluralize(row[kind], noun) for kind, noun in kinds.items() if row[kind]]


def _session(row: dict[str, Any]) -> str:
    size = f" ({decimal(row['bytes'])})" if row["bytes"] else ""
    changed = datetime.fromtimestamp(row["changed_at"], UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    head = f"{chat_label(row)} · {changed} · {', '.join(_counts(row))}{size}"
    return f"{head}\n  {shorten(row['about'], LONGEST_ABOUT, placeholder='…')}"


def _resource(row: dict[str, Any]) -> str:
    head = " · ".join([row["id"], row["name"], row["mime"], decimal(row["size"]), row["created_on"]])
    return f"{head}\n  {status_text(row['status'], row['chunks'], row['error'])}"


def _source(row: dict[str, Any]) -> str:
    state = "" if row["state"] == "READY" else f" · {row['embedded']:,} of {row['chunks']:,} embedded"
    head = f"source {row['source_id']} · {pluralize(row['chunks'], 'passage')}{state} · {row['indexed_on']}"
    return f"{head}\n  {shorten(row['preview'], LONGEST_ABOUT, placeholder='…')}"


def _agent(row: dict[str, Any]) -> str:
    return f"sub-agent {row['sub_sid']} · {row['role']} · {row['status']} · {row['updated_on']}"
