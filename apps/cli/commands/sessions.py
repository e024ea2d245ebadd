"""The sessions of a user, on the command line."""

from datetime import UTC, datetime
from textwrap import shorten
from typing import Any

from rich.filesize import decimal

from apps.cli.client.chat_ids import chat_label, check_known
from apps.cli.client.connect import run_once
from apps.cli.commands.ingest import where
from apps.cli.terminal.view import show_told
from cognition.text.plural import pluralize

LONGEST_ABOUT = 100
"""Characters of a line that says what there is to find."""

STAYS = "The chat's messages stay, and so does what is remembered of the user."


def show_all(user: str, *, as_json: bool) -> None:
    """Print a user's sessions, the one that changed last first."""
    told = run_once(lambda session: session.sessions(user))
    show_told(told, "\n".join(map(_session, told["sessions"])) or "No chat holds anything.", as_json=as_json)


def show(user: str, chat: str, *, as_json: bool) -> None:
    """Print what one session holds.

    Raises:
        InvalidInput: The user has no such chat.
    """
    check_known(user, chat)
    told = run_once(lambda session: session.show(user, chat))
    parts = [
        *(_resource(resource) for resource in told["resources"]),
        *(_source(source) for source in told["sources"]),
        *(_agent(agent) for agent in told["agents"]),
    ]
    show_told(told, "\n".join(parts) or f"The chat {chat_label(told)!r} holds nothing.", as_json=as_json)


def close(user: str, chat: str, *, as_json: bool) -> None:
    """Delete what one session holds, and print how much that was.

    Raises:
        InvalidInput: The user has no such chat.
    """
    check_known(user, chat)
    told = run_once(lambda session: session.close(user, chat))
    counts = _counts(told)
    nothing = f"The chat {chat_label(told)!r} held nothing to delete."
    gone = f"Deleted for good: {', '.join(counts)}." if counts else nothing
    show_told(told, f"{gone} {STAYS}", as_json=as_json)


def _counts(told: dict[str, Any]) -> list[str]:
    """How much there is of each kind of which there is something."""
    kinds = {"resources": "file", "sources": "source", "agents": "sub-agent"}
    return [pluralize(told[kind], noun) for kind, noun in kinds.items() if told[kind]]


def _session(row: dict[str, Any]) -> str:
    size = f" ({decimal(row['bytes'])})" if row["bytes"] else ""
    changed = datetime.fromtimestamp(row["changed_at"], UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    head = f"{chat_label(row)} · {changed} · {', '.join(_counts(row))}{size}"
    return f"{head}\n  {shorten(row['about'], LONGEST_ABOUT, placeholder='…')}"


def _resource(row: dict[str, Any]) -> str:
    head = " · ".join([row["id"], row["name"], row["mime"], decimal(row["size"]), row["created_on"]])
    return f"{head}\n  {where(row['status'], row['chunks'], row['error'])}"


def _source(row: dict[str, Any]) -> str:
    state = "" if row["state"] == "READY" else f" · {row['embedded']:,} of {row['chunks']:,} embedded"
    head = f"source {row['source_id']} · {pluralize(row['chunks'], 'passage')}{state} · {row['indexed_on']}"
    return f"{head}\n  {shorten(row['preview'], LONGEST_ABOUT, placeholder='…')}"


def _agent(row: dict[str, Any]) -> str:
    return f"sub-agent {row['sub_sid']} · {row['role']} · {row['status']} · {row['updated_on']}"
