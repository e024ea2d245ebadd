"""The `cognition agents` commands, which manage sub-agents."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import typer

from apps.cli.client.chat_ids import chat_label, check_known, thread_of
from apps.cli.client.connect import open_client, run_once
from apps.cli.terminal.view import decode_argument, notice_line, print_result, printable
from cognition.levels import Policy
from cognition.settings import process_settings
from cognition.text.blocks import strip_blocks
from cognition.text.plural import pluralize


def show_all(user: str, chat: str, *, as_json: bool) -> None:
    """Print a user's sub-agents, most recently active first.

    Raises:
        InvalidInput: If the user has no such chat.
    """
    if chat:
        check_known(user, chat)
    listing = run_once(lambda client: client.agents(user, thread_of(user, chat) if chat else ""))
    print_result(listing, "\n".join(map(_agent, listing["agents"])) or "No open sub-agents.", as_json=as_json)


def show(user: str, sub_sid: str, *, as_json: bool) -> None:
    """Print a sub-agent and the messages of its thread."""
    agent = run_once(lambda client: client.agent(user, sub_sid))
    print_result(agent, "\n\n".join([_agent(agent), *map(_message, agent["messages"])]), as_json=as_json)


def resume(user: str, sub_sid: str, text: str, policy: Policy | None, *, as_json: bool) -> None:
    """Resume a sub-agent and print its report, with progress on standard error.

    Raises:
        typer.Exit: If the sub-agent failed.
    """
    report = asyncio.run(_resume(user, sub_sid, decode_argument(text), policy))
    parts = [
        f"{report['sub_sid']} · {report['status'].replace('_', ' ')}",
        strip_blocks(report["note"]),
        report["text"],
    ]
    print_result(report, "\n\n".join(filter(None, parts)), as_json=as_json)
    if report["status"] == "error":
        raise typer.Exit(1)


def close(user: str, sub_sid: str, *, as_json: bool) -> None:
    """Close a sub-agent and delete its thread."""
    agent = run_once(lambda client: client.close_agent(user, sub_sid))
    print_result(agent, f"Deleted permanently: {agent['sub_sid']} ({agent['role']})", as_json=as_json)


async def _resume(user: str, sub_sid: str, text: str, policy: Policy | None) -> dict[str, Any]:
    report: dict[str, Any] = {}
    async with (
        open_client(process_settings()) as client,
        aclosing(client.resume(user, sub_sid, text, policy)) as events,
    ):
        async for event in events:
            report = event
            if line := notice_line(event):
                typer.echo(printable(line), err=True)
    return report


def _agent(row: dict[str, Any]) -> str:
    status = row["status"] if row["status"] != "working" or row["busy"] else "interrupted"
    steps = pluralize(row["steps"], "step")
    head = [row["sub_sid"], row["role"], status, steps, row["updated_on"], chat_label(row)]
    exchange = [f"  task: {row['request']}", f"  answer: {row['answer']}" if row["answer"] else ""]
    return "\n".join(filter(None, [" · ".join(head), *exchange]))


def _message(message: dict[str, Any]) -> str:
    speakers = {"human": "task", "ai": "agent", "system": "role", "tool": f"result of {message['name']}"}
    calls = [f"→ {call['name']}({json.dumps(call['args'], ensure_ascii=False)})" for call in message["calls"]]
    content = "\n".join(filter(None, [message["text"], *calls]))
    return f"{speakers[message['type']]}: {content}"
