"""One turn from the command line."""

import asyncio
import json
import sys
from typing import Any

import typer

from cognition.cli.session import Answered, new_chat, open_session
from cognition.cli.view import printable, readable
from cognition.context import Context
from cognition.levels import Policy
from cognition.refusal import Refused
from cognition.settings import process_settings


def run(question: str, user: str, chat: str, policy: Policy, *, as_json: bool) -> None:
    """Print the answer to a question; `-` is read from standard input.

    Raises:
        Refused: There is no question.
        typer.Exit: No model gave an answer.
    """
    text = sys.stdin.buffer.read().decode("utf-8-sig", "replace") if question == "-" else readable(question)
    if not text.strip():
        msg = "There is nothing to ask: give a question, or - and a text on standard input."
        raise Refused(msg)
    chat = chat or new_chat()
    answer = asyncio.run(_ask(text, chat, Context(user_id=user, policy=policy)))
    if as_json:
        told: dict[str, Any] = {"chat_id": chat, "answer": answer.text, **answer.account}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        failed = "error" in answer.account
        typer.echo(printable(answer.text), err=failed)
    if "error" in answer.account:
        raise typer.Exit(1)


async def _ask(text: str, chat: str, context: Context) -> Answered:
    answer = Answered("")
    async with open_session(process_settings()) as session:
        async for event in session.turn(chat, text, context):
            if isinstance(event, Answered):
                answer = event
    return answer
