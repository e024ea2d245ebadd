"""The chat in the terminal."""

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
from apps.cli.client.uploads import with_files
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
"""What `cognition.prompts.attachments` leaves of a file in a stored message, around its name."""

HELP = """/new            start a new chat
/memory [WORDS] what is remembered, or what answers WORDS
/policy [NAME]  the levels that may think: AUTO, AUTO_PRO, MODEL_LITE, MODEL_FLASH, MODEL_PRO
@PATH           a file to talk about, anywhere in a line; a path that you type or drag needs no @
/help           this
/quit           end, as Ctrl-D does; Ctrl-C ends a turn"""


def run(user: str, chat: str, policy: Policy) -> None:
    """Talk until the user ends it.

    Raises:
        typer.Exit: A line that was piped in got no answer.
    """
    asyncio.run(_run(Context(user_id=user, policy=policy), chat))


async def _run(context: Context, chat: str) -> None:
    async with open_client(process_settings()) as session:
        interactive = sys.stdin.isatty() and sys.stdout.isatty()
        view = TerminalView() if interactive else PlainView()
        talk = ChatLoop(session, view, context, chat or new_chat(), bare_paths=interactive)
        if session.rehearsed:
            talk.view.note(NOTICE)
        if interactive:
            if session.where:
                talk.view.note(f"Through the server at {session.where}, which holds the folder.")
            talk.view.note(f"Chat {talk.id}. /help lists what can be typed.")
            await talk.on_terminal(resumed=bool(chat))
            return
        answered = await talk.through(piped_lines())
        await session.finish()
        if not answered:
            raise typer.Exit(1)


class ChatLoop:
    """A chat between a person and a session.

    Args:
        session: Who answers.
        view: Where it is shown.
        context: Who asks, and under which policy.
        chat: The id of the chat.
        bare_paths: Whether the path of a file needs no `@`. Who types sees what goes along; a pipe may hold
            any path.
    """

    def __init__(self, session: Client, view: View, context: Context, chat: str, *, bare_paths: bool) -> None:
        self._session = session
        self.view = view
        self._context = context
        self._chat = chat
        self._bare_paths = bare_paths
        self._turn: asyncio.Task[bool] | None = None

    @property
    def id(self) -> str:
        """The chat's id, to resume it by."""
        return self._chat

    async def through(self, lines: AsyncIterator[str]) -> bool:
        """Answer lines until they end or one says /quit; False when a turn failed."""
        answered = True
        async for line in lines:
            if line.strip() == "/quit":
                break
            if line.strip() and not await self._hear(line):
                answered = False
        return answered

    async def on_terminal(self, *, resumed: bool) -> None:
        """Talk with line editing; Ctrl-C ends a turn and not the program."""
        loop = asyncio.get_running_loop()
        # Not the loop's own handlers, which Windows lacks.
        before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._interrupt))
        try:
            if resumed:
                await self._show_last()
            await self.through(typed_lines())
        finally:
            signal.signal(signal.SIGINT, before)
        self.view.note(f"Go on with this chat: {resume_command(self._chat)}")

    def _interrupt(self) -> None:
        if self._turn:
            self._turn.cancel()

    async def _hear(self, line: str) -> bool:
        command, _, rest = line.strip().partition(" ")
        try:
            if command in COMMANDS:
                await self._obey(command, rest.strip())
                return True
            said = await asyncio.to_thread(read_line, line, bare=self._bare_paths)
            if not said.paths and re.fullmatch(r"/[^/]*", command):
                msg = f"{command!r} is no command: /help lists them."
                raise InvalidInput(msg)
            return await self._say(said)
        except BrokenPipeError:
            raise  # nobody reads any more: no other line is to be answered
        except (CognitionError, ValueError, OSError, sqlite3.Error) as error:
            if not (sentence := error_message(error)):
                raise
            self.view.note(sentence)
            return False

    async def _say(self, said: Line) -> bool:
        self._turn = asyncio.create_task(self._show(said))
        try:
            return await self._turn
        except asyncio.CancelledError:
            if asyncio.current_task().cancelling():  # type: ignore[union-attr]  # the program ends, not the turn
                raise
            self.view.note("Ended.")
            return True
        finally:
            self._turn = None

    async def _show(self, said: Line) -> bool:
        for sentence in said.missing:
            self.view.note(sentence)
        user, settings = self._context.user_id, process_settings()
        content, taken = await with_files(self._session, settings, user, self._chat, said.text, said.paths)
        await save_chat_name(settings, user, self._chat)
        for resource in taken:
            self.view.note(f"· {resource.name} goes with it ({decimal(resource.size)})")
        async with aclosing(self._session.turn(self._chat, content, self._context)) as events:
            answer = await self.view.show(events)
        return "error" not in answer.account

    async def _obey(self, command: str, rest: str) -> None:
        match command:
            case "/new":
                self._chat = new_chat()
                self.view.note(f"A new chat: {self._chat}")
            case "/memory":
                listing = await self._session.memories(self._context.user_id, query=rest)
                self.view.note(table(listing, narrowed=bool(rest)))
            case "/policy" if rest in get_args(Policy):
                self._context = replace(self._context, policy=cast("Policy", rest))
                self.view.note(f"From the next turn on: {rest}")
            case "/policy":
                names = ", ".join(get_args(Policy))
                if rest:
                    msg = f"{rest!r} is no policy: give one of {names}."
                    raise InvalidInput(msg)
                self.view.note(f"It is {self._context.policy}; there are {names}.")
            case _:
                self.view.note(HELP)

    async def _show_last(self) -> None:
        messages = await self._session.messages(self._context.user_id, self._chat)
        for message in exchanges(messages, TURNS_SHOWN):
            asked = isinstance(message, HumanMessage)
            self.view.note(f"> {as_typed(message.text)}" if asked else message.text)


def as_typed(text: str) -> str:
    """A stored question without the markup of its files; those that it doesn't name follow it."""
    typed = ATTACHED.sub("", text)
    names = [unescape(name) for name in ATTACHED.findall(text)]
    return " ".join([typed, *(f"({name})" for name in names if name not in typed)])


async def piped_lines() -> AsyncIterator[str]:
    """The lines of standard input, whatever their bytes."""
    for raw in sys.stdin.buffer:
        yield raw.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")


async def typed_lines() -> AsyncIterator[str]:
    """The lines that are typed, with editing and the history of earlier chats, until Ctrl-D."""
    from prompt_toolkit import PromptSession  # noqa: PLC0415  # not for a pipe
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
