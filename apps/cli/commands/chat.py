"""The `cognition chat` command: a chat in the terminal."""

import asyncio
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from html import unescape
from typing import cast, get_args

import typer
from langchain_core.messages import HumanMessage
from rich.filesize import decimal

from apps.cli.client.chat_ids import new_chat, resume_command, save_chat_name
from apps.cli.client.client import Client, exchanges
from apps.cli.client.connect import open_client
from apps.cli.client.uploads import attach_files
from apps.cli.commands.memory import table
from apps.cli.error_messages import error_message
from apps.cli.terminal.file_mentions import Line, read_line
from apps.cli.terminal.view import PlainView, TerminalView, View
from cognition.context import Context
from cognition.errors import CognitionError, InvalidInput
from cognition.levels import Policy
from cognition.rehearsal import NOTICE
from cognition.settings import process_settings

HISTORY_FILE = "chat_history"
TURNS_SHOWN = 3

COMMANDS = ("/new", "/memory", "/policy", "/help", "/quit")

ATTACHED = re.compile(r"<attachment\b[^>]*>\n(.*?)\n</attachment>", re.DOTALL)
"""The block that `cognition.prompts.attachments` adds to a stored message for each file."""

HELP = """/new            start a new chat
/memory [WORDS] list memories, or search them for WORDS
/policy [NAME]  show or set the levels to use: AUTO, AUTO_PRO, MODEL_LITE, MODEL_FLASH, MODEL_PRO
@PATH           attach a file, anywhere in a line; typed or dragged paths work without the @
/help           show this help
/quit           leave the chat, as does Ctrl-D; Ctrl-C stops the current turn"""


def run(user: str, chat: str, policy: Policy) -> None:
    """Run the chat until the user ends it.

    Raises:
        typer.Exit: If a piped line was not answered.
    """
    asyncio.run(_run(Context(user_id=user, policy=policy), chat))


async def _run(context: Context, chat: str) -> None:
    async with open_client(process_settings()) as client:
        interactive = sys.stdin.isatty() and sys.stdout.isatty()
        view = TerminalView() if interactive else PlainView()
        loop = ChatLoop(client, view, context, chat or new_chat(), bare_paths=interactive)
        if client.rehearsed:
            loop.view.note(NOTICE)
        if interactive:
            if client.url:
                loop.view.note(f"Connected to the server at {client.url}, which holds the home folder.")
            loop.view.note(f"Chat {loop.id}. Type /help for a list of commands.")
            await loop.run_interactive(resumed=bool(chat))
            return
        answered = await loop.answer(piped_lines())
        await client.finish()
        if not answered:
            raise typer.Exit(1)


class ChatLoop:
    """The loop that reads lines from the user and shows the answers.

    Args:
        client: The client that answers.
        view: The view that shows the chat.
        context: The user and the policy.
        chat: The id or name of the chat.
        bare_paths: True to attach files whose paths have no `@`. This suits typed lines, where the user sees
            which files are attached; piped text may contain any path.
    """

    def __init__(self, client: Client, view: View, context: Context, chat: str, *, bare_paths: bool) -> None:
        self._client = client
        self.view = view
        self._context = context
        self._chat = chat
        self._bare_paths = bare_paths
        self._turn: asyncio.Task[bool] | None = None

    @property
    def id(self) -> str:
        """The chat's id or name, which resumes it."""
        return self._chat

    async def answer(self, lines: AsyncIterator[str]) -> bool:
        """Answer lines until they end or one is /quit. Return False if a line failed."""
        answered = True
        async for line in lines:
            if line.strip() == "/quit":
                break
            if line.strip() and not await self._handle(line):
                answered = False
        return answered

    async def run_interactive(self, *, resumed: bool) -> None:
        """Run the chat with line editing. Ctrl-C stops the current turn, not the program."""
        loop = asyncio.get_running_loop()
        # The event loop's own signal handlers are not available on Windows.
        previous = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._interrupt))
        try:
            if resumed:
                await self._show_last()
            await self.answer(typed_lines())
        finally:
            signal.signal(signal.SIGINT, previous)
        self.view.note(f"To resume this chat: {resume_command(self._chat)}")

    def _interrupt(self) -> None:
        if self._turn:
            self._turn.cancel()

    async def _handle(self, line: str) -> bool:
        command, _, argument = line.strip().partition(" ")
        try:
            if command in COMMANDS:
                await self._run_command(command, argument.strip())
                return True
            message = await asyncio.to_thread(read_line, line, bare=self._bare_paths)
            if not message.paths and re.fullmatch(r"/[^/]*", command):
                msg = f"Unknown command {command!r}: /help lists the commands."
                raise InvalidInput(msg)
            return await self._send(message)
        except BrokenPipeError:
            raise  # the reader is gone, so no further line needs an answer
        except (CognitionError, ValueError, OSError, sqlite3.Error) as error:
            if not (text := error_message(error)):
                raise
            self.view.note(text)
            return False

    async def _send(self, message: Line) -> bool:
        self._turn = asyncio.create_task(self._run_turn(message))
        try:
            return await self._turn
        except asyncio.CancelledError:
            if asyncio.current_task().cancelling():  # type: ignore[union-attr]  # the program ends, not the turn
                raise
            self.view.note("Stopped.")
            return True
        finally:
            self._turn = None

    async def _run_turn(self, message: Line) -> bool:
        for warning in message.missing:
            self.view.note(warning)
        user, settings = self._context.user_id, process_settings()
        content, resources = await attach_files(
            self._client, settings, user, self._chat, message.text, message.paths
        )
        await save_chat_name(settings, user, self._chat)
        for resource in resources:
            self.view.note(f"· {resource.name}: attached ({decimal(resource.size)})")
        async with aclosing(self._client.turn(self._chat, content, self._context)) as events:
            answer = await self.view.show(events)
        return "error" not in answer.account

    async def _run_command(self, command: str, argument: str) -> None:
        match command:
            case "/new":
                self._chat = new_chat()
                self.view.note(f"New chat: {self._chat}")
            case "/memory":
                listing = await self._client.memories(self._context.user_id, query=argument)
                self.view.note(table(listing, narrowed=bool(argument)))
            case "/policy" if argument in get_args(Policy):
                self._context = replace(self._context, policy=cast("Policy", argument))
                self.view.note(f"Policy from the next turn on: {argument}")
            case "/policy":
                names = ", ".join(get_args(Policy))
                if argument:
                    msg = f"Unknown policy {argument!r}: expected one of {names}."
                    raise InvalidInput(msg)
                self.view.note(f"The policy is {self._context.policy}. Available: {names}.")
            case _:
                self.view.note(HELP)

    async def _show_last(self) -> None:
        messages = await self._client.messages(self._context.user_id, self._chat)
        for message in exchanges(messages, TURNS_SHOWN):
            question = isinstance(message, HumanMessage)
            self.view.note(f"> {as_typed(message.text)}" if question else message.text)


def as_typed(text: str) -> str:
    """Return a stored question without the blocks of its files, followed by the files it does not name."""
    typed = ATTACHED.sub("", text)
    names = [unescape(name) for name in ATTACHED.findall(text)]
    return " ".join([typed, *(f"({name})" for name in names if name not in typed)])


async def piped_lines() -> AsyncIterator[str]:
    """Yield the lines of standard input, replacing invalid bytes."""
    for raw in sys.stdin.buffer:
        yield raw.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")


async def typed_lines() -> AsyncIterator[str]:
    """Yield lines typed with an editor and a history shared by all chats, until Ctrl-D."""
    from prompt_toolkit import PromptSession  # noqa: PLC0415  # not needed for piped input
    from prompt_toolkit.history import FileHistory  # noqa: PLC0415

    home = process_settings().home
    home.mkdir(parents=True, exist_ok=True)
    prompt: PromptSession[str] = PromptSession(history=FileHistory(str(home / HISTORY_FILE)))
    while True:
        try:
            yield await prompt.prompt_async("> ", handle_sigint=False)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
