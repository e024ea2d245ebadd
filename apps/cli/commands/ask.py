"""One turn from the command line."""

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
from apps.cli.client.uploads import with_files
from apps.cli.terminal.view import notice_line, printable, readable
from cognition.context import Context
from cognition.errors import InvalidInput
from cognition.levels import Policy
from cognition.settings import process_settings


def run(question: str, user: str, chat: str, policy: Policy, files: Sequence[Path], *, as_json: bool) -> None:
    """Print the answer to a question; `-` is read from standard input. What is begun on files is ended first.

    Raises:
        InvalidInput: There is no question.
        typer.Exit: No model gave an answer.
    """
    text = sys.stdin.buffer.read().decode("utf-8-sig", "replace") if question == "-" else readable(question)
    if not text.strip():
        msg = "There is nothing to ask: give a question, or - and a text on standard input."
        raise InvalidInput(msg)
    named, chat = bool(chat), chat or new_chat()
    answer, asked_back = asyncio.run(_ask(text, files, chat, Context(user_id=user, policy=policy)))
    if as_json:
        told: dict[str, Any] = {**chat_fields(user, chat), "answer": answer.text, **answer.account}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        failed = "error" in answer.account
        typer.echo(printable(answer.text), err=failed)
        if not named and (files or asked_back):
            typer.secho(printable(f"Go on with it: {resume_command(chat)}"), err=True, dim=True)
    if "error" in answer.account:
        raise typer.Exit(1)


async def _ask(text: str, files: Sequence[Path], chat: str, context: Context) -> tuple[TurnResult, bool]:
    """The answer, and whether a sub-agent asks something back."""
    answer, asked_back = TurnResult(""), False
    settings = process_settings()
    async with open_client(settings) as session:
        content, taken = await with_files(session, settings, context.user_id, chat, text, files)
        await save_chat_name(settings, context.user_id, chat)
        if taken:
            await _ingested(session.ingest(context.user_id, chat, [resource.id for resource in taken]))
        async for event in session.turn(chat, content, context):
            match event:
                case TurnResult():
                    answer = event
                case Notice({"type": "delegation", "event": "ended", "status": "pending_question"}):
                    asked_back = True
        await session.finish()
    return answer, asked_back


async def _ingested(events: AsyncIterator[dict[str, Any]]) -> None:
    """Wait for files however long they take: who asks once can't ask again later."""
    async for event in events:
        if line := notice_line(event):
            typer.echo(printable(line), err=True)
