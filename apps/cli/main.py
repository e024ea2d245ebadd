"""The `cognition` command. What a command needs is imported when it is asked for: `--help` stays quick."""

import os
import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from apps.cli.groups import admin, agents, memory, sessions, skills
from apps.cli.options import Chat, Json, PolicyOption, User
from cognition.errors import CognitionError

UNHEARD = 141
"""The exit code of a program that nobody reads any more: 128 + SIGPIPE, as a shell tells it of others."""


class CliApp(TyperGroup):
    """Turns what the application refuses into one sentence on stderr and exit code 1."""

    def main(self, *arguments: Any, **named: Any) -> Any:
        """Run the program, whichever of its streams the caller has closed."""
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open to the end
        return super().main(*arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # whatever the terminal's encoding
        try:
            return super().invoke(ctx)
        except typer.BadParameter as wrong:
            wrong.message = wrong.message.removeprefix("Value error, ")  # pydantic's word for its own error
            raise
        except BrokenPipeError:  # `| head` has read enough
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for stream in (sys.stdout, sys.stderr):
                os.dup2(nowhere, stream.fileno())  # what they still hold is written when the program ends
            raise typer.Exit(UNHEARD) from None
        except (CognitionError, ValueError, OSError, sqlite3.Error) as error:
            from apps.cli.error_messages import error_message
            from apps.cli.terminal.view import printable

            if not (sentence := error_message(error)):
                raise
            typer.echo(printable(sentence), err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=CliApp,
    name="cognition",
    help="An assistant that remembers across conversations and thinks at the level a task asks for.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for group in (memory, skills, sessions, agents, admin):
    app.add_typer(group)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"cognition {version('cognition')}")
        except PackageNotFoundError:
            typer.echo("cognition, from a folder that is not installed")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """What may be asked without a command; the help is that of `app`."""


@app.command()
def chat(user: User = "local", chat: Chat = "", policy: PolicyOption = "AUTO_PRO") -> None:
    """Talk. Lines that are piped in are answered one by one."""
    from apps.cli.commands import chat as command

    command.run(user, chat, policy)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you say; - reads it from standard input.")],
    user: User = "local",
    chat: Chat = "",
    policy: PolicyOption = "AUTO_PRO",
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="A file to ask about; may be given several times.")
    ] = None,
    json: Json = False,
) -> None:
    """Ask once. The exit code is 1 when no model answered."""
    from apps.cli.commands import ask as command

    command.run(question, user, chat, policy, file or [], as_json=json)


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with --recursive.")],
    user: User = "local",
    chat: Chat = "",
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Take the files in folders, and in those in them.")
    ] = False,
    json: Json = False,
) -> None:
    """Give files to a chat. The exit code is 1 when one of them could not be read.

    A large file that is read, while the second bar shows, can be searched by its words already.

    Ctrl-C does no harm: ask about what is read, and the same command goes on with the rest.
    """
    from apps.cli.commands import ingest as command

    command.run(paths, user, chat, recursive=recursive, as_json=json)


@app.command()
def council(
    question: Annotated[str, typer.Argument(help="What the council is to answer.")],
    participants: Annotated[
        str,
        typer.Option(
            "--participants",
            help="Required: ids of two to five experts, as `skills list` shows them, separated by commas.",
        ),
    ] = "",
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            help="How often each speaks: 1 to 5 times, 3 if none, where the settings don't differ.",
        ),
    ] = None,
    user: User = "local",
    chat: Annotated[str, typer.Option("--chat", help="The id or name of a chat that they are told of.")] = "",
    policy: PolicyOption = "AUTO_PRO",
    json: Json = False,
) -> None:
    """Let two to five experts deliberate. The exit code is 1 when nobody answered."""
    from apps.cli.commands import council as command

    command.run(question, participants, user, chat, policy, rounds, as_json=json)


@app.command()
def doctor(json: Json = False) -> None:
    """Check keys, models, stores and versions; say what is wrong and how to mend it."""
    from apps.cli.commands import doctor as command

    command.run(as_json=json)


@app.command()
def calibrate(
    model: Annotated[
        str, typer.Argument(help="A model's name or folder; the one of the settings if none.")
    ] = "",
) -> None:
    """Measure what the cosines of an embedding model mean, and keep that in COGNITION_HOME."""
    from apps.cli.commands import calibrate as command

    command.run(model)
