"""The threads of sub-agents, on the command line."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import typer

from apps.cli.client.chat_ids import chat_label, check_known, thread_of
from apps.cli.client.connect import open_client, run_once
from apps.cli.terminal.view import notice_line, printable, readable, show_told
from cognition.levels import Policy
from cognition.settings import process_settings
from cognition.text.blocks import unblocked
from cognition.text.plural import pluralize


def show_all(user: str, chat: str, *, as_json: bool) -> None:
    """Print a user's sub-agents, the one that moved last first.

    Raises:
        InvalidInput: The user has no such chat.
    """
    if chat:
        check_known(user, chat)
    told = run_once(lambda session: session.agents(user, thread_of(user, chat) if chat else ""))
    show_told(told, "\n".join(map(_agent, told["agents"])) or "No sub-agent is open.", as_json=as_json)


def show(user: str, sub_sid: str, *, as_json: bool) -> None:
    """Print what was said in a sub-agent's thread."""
    told = run_once(lambda session: session.agent(user, sub_sid))
    show_told(told, "\n\n".join([_agent(told), *map(_message, told["messages"])]), as_json=as_json)


def resume(user: str, sub_sid: str, text: str, policy: Policy | None, *, as_json: bool) -> None:
    """Let a sub-agent go on, and print what came of it; what happens meanwhile is said on standard error.

    Raises:
        typer.Exit: It could not go on.
    """
    report = asyncio.run(_resume(user, sub_sid, readable(text), policy))
    parts = [
        f"{report['sub_sid']} · {report['status'].replace('_', ' ')}",
        unblocked(report["note"]),
        report["text"],
    ]
    show_told(report, "\n\n".join(filter(None, parts)), as_json=as_json)
    if report["status"] == "error":
        raise typer.Exit(1)


def close(user: str, sub_sid: str, *, as_json: bool) -> None:
    """End a sub-agent and delete its thread."""
    told = run_once(lambda session: session.close_agent(user, sub_sid))
    show_told(told, f"Closed for good: {told['sub_sid']} ({told['role']})", as_json=as_json)


async def _resume(user: str, sub_sid: str, text: str, policy: Policy | None) -> dict[str, Any]:
    report: dict[str, Any] = {}
    async with (
        open_client(process_settings()) as session,
        aclosing(session.resume(user, sub_sid, text, policy)) as events,
    ):
        async for event in events:
            report = event
            if line := notice_line(event):
                typer.echo(printable(line), err=True)
    return report


def _agent(row: dict[str, Any]) -> str:
    standing = row["status"] if row["status"] != "working" or row["busy"] else "cut off"
    steps = pluralize(row["steps"], "step")
    head = [row["sub_sid"], row["role"], standing, steps, row["updated_on"], chat_label(row)]
    said = [f"  asked: {row['request']}", f"  answered: {row['answer']}" if row["answer"] else ""]
    return "\n".join(filter(None, [" · ".join(head), *said]))


def _message(message: dict[str, Any]) -> str:
    speakers = {"human": "task", "ai": "agent", "system": "role", "tool": f"result of {message['name']}"}
    calls = [f"→ {call['name']}({json.dumps(call['args'], ensure_ascii=False)})" for call in message["calls"]]
    said = "\n".join(filter(None, [message["text"], *calls]))
    return f"{speakers[message['type']]}: {said}"
