"""The `cognition` command. Each command imports its own dependencies when it runs, so `--help` is fast."""

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

SIGPIPE_EXIT_CODE = 141
"""The exit code when standard output or error is a closed pipe: 128 + SIGPIPE, as in a shell."""


class CliApp(TyperGroup):
    """A command group that reports the application's errors as one line on stderr, with exit code 1."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the program, even if the caller has closed some of its standard streams."""
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until exit
        return super().main(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run a command and report its errors."""
        # The terminal's encoding may lack some characters.
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # added by pydantic
            raise
        except BrokenPipeError:  # the reader stopped early, as in `| head`
            devnull = os.open(os.devnull, os.O_WRONLY)
            for stream in (sys.stdout, sys.stderr):
                os.dup2(devnull, stream.fileno())  # buffered output is flushed at exit
            raise typer.Exit(SIGPIPE_EXIT_CODE) from None
        except (CognitionError, ValueError, OSError, sqlite3.Error) as error:
            from apps.cli.error_messages import error_message
            from apps.cli.terminal.view import printable

            if not (message := error_message(error)):
                raise
            typer.echo(printable(message), err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=CliApp,
    name="cognition",
    help="An assistant with long-term memory that thinks at the level a task needs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for group in (memory, skills, sessions, agents, admin):
    app.add_typer(group)


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"cognition {version('cognition')}")
        except PackageNotFoundError:
            typer.echo("cognition (run from source, not installed)")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Declare the options that need no command. Their help text is the one of `app`."""


@app.command()
def chat(user: User = "local", chat: Chat = "", policy: PolicyOption = "AUTO_PRO") -> None:
    """Start or resume a chat. Lines piped to standard input are answered one by one."""
    from apps.cli.commands import chat as command

    command.run(user, chat, policy)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    user: User = "local",
    chat: Chat = "",
    policy: PolicyOption = "AUTO_PRO",
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="A file to ask about; can be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Ask a single question. The exit code is 1 if no model answered."""
    from apps.cli.commands import ask as command

    command.run(question, user, chat, policy, file or [], as_json=json)


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders with --recursive.")],
    user: User = "local",
    chat: Chat = "",
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Include all files in folders and their subfolders.")
    ] = False,
    json: Json = False,
) -> None:
    """Add files to a chat. The exit code is 1 if a file could not be read.

    A large file can be searched by words once it is read, and by meaning once the second progress bar is
    full.

    You can press Ctrl-C safely: files already read stay available. To continue with the rest, run the command
    again with the same --chat.
    """
    from apps.cli.commands import ingest as command

    command.run(paths, user, chat, recursive=recursive, as_json=json)


@app.command()
def council(
    question: Annotated[str, typer.Argument(help="The question for the council.")],
    participants: Annotated[
        str,
        typer.Option(
            "--participants",
            help="Required: ids of two to five experts, separated by commas. `skills list` shows them.",
        ),
    ] = "",
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            help="Number of rounds, from 1 to 5 (default: 3). The settings can change both.",
        ),
    ] = None,
    user: User = "local",
    chat: Annotated[
        str, typer.Option("--chat", help="The id or name of a chat to summarise for the experts.")
    ] = "",
    policy: PolicyOption = "AUTO_PRO",
    json: Json = False,
) -> None:
    """Let two to five experts deliberate on a question. The exit code is 1 if none of them answered."""
    from apps.cli.commands import council as command

    command.run(question, participants, user, chat, policy, rounds, as_json=json)


@app.command()
def doctor(json: Json = False) -> None:
    """Check keys, models, stores and versions. Report problems and how to fix them."""
    from apps.cli.commands import doctor as command

    command.run(as_json=json)


@app.command()
def calibrate(
    model: Annotated[
        str, typer.Argument(help="The model's name or folder; the one from the settings if omitted.")
    ] = "",
) -> None:
    """Measure an embedding model's cosine similarities and save the calibration in COGNITION_HOME."""
    from apps.cli.commands import calibrate as command

    command.run(model)
