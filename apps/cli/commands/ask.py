"""The `cognition ask` command, which runs a single turn."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import typer

from apps.cli.client.chat_ids import chat_fields, new_chat, resume_command, save_chat_name
from apps.cli.client.connect import open_client
from apps.cli.client.events import Notice, TurnResult
from apps.cli.client.uploads import attach_files
from apps.cli.terminal.view import decode_argument, notice_line, printable
from cognition.context import Context
from cognition.errors import InvalidInput
from cognition.levels import Policy
from cognition.settings import process_settings


def run(question: str, user: str, chat: str, policy: Policy, files: Sequence[Path], *, as_json: bool) -> None:
    """Print the answer to a question; `-` reads it from standard input. Files are ingested completely first.

    Raises:
        InvalidInput: If the question is empty.
        typer.Exit: If no model answered.
    """
    stdin = question == "-"
    text = sys.stdin.buffer.read().decode("utf-8-sig", "replace") if stdin else decode_argument(question)
    if not text.strip():
        msg = "The question is empty. Give a question, or - to read it from standard input."
        raise InvalidInput(msg)
    new, chat = not chat, chat or new_chat()
    answer, has_question = asyncio.run(_ask(text, files, chat, Context(user_id=user, policy=policy)))
    if as_json:
        result: dict[str, Any] = {**chat_fields(user, chat), "answer": answer.text, **answer.account}
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        failed = "error" in answer.account
        typer.echo(printable(answer.text), err=failed)
        if new and (files or has_question):
            typer.secho(printable(f"To continue: {resume_command(chat)}"), err=True, dim=True)
    if "error" in answer.account:
        raise typer.Exit(1)


async def _ask(text: str, files: Sequence[Path], chat: str, context: Context) -> tuple[TurnResult, bool]:
    """Return the answer, and True if a sub-agent is waiting for an answer of the user."""
    answer, has_question = TurnResult(""), False
    settings = process_settings()
    async with open_client(settings) as client:
        content, resources = await attach_files(client, settings, context.user_id, chat, text, files)
        await save_chat_name(settings, context.user_id, chat)
        if resources:
            await _ingest(client.ingest(context.user_id, chat, [resource.id for resource in resources]))
        async for event in client.turn(chat, content, context):
            match event:
                case TurnResult():
                    answer = event
                case Notice({"type": "delegation", "event": "ended", "status": "pending_question"}):
                    has_question = True
        await client.finish()
    return answer, has_question


async def _ingest(events: AsyncIterator[dict[str, Any]]) -> None:
    """Wait until files are ingested, however long it takes: a single question can't be repeated later."""
    async for event in events:
        if line := notice_line(event):
            typer.echo(printable(line), err=True)
