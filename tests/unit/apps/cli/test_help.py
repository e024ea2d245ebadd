from collections.abc import Iterator
from typing import Any

import pytest
import typer

from apps.cli.main import app
from tests.unit.apps.cli.conftest import Run


def commands(command: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Yield every command and group with its path."""
    yield " ".join(path), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *path, name)


COMMANDS = list(commands(typer.main.get_command(app)))


@pytest.mark.parametrize(("path", "command"), COMMANDS)
def test_every_command_and_parameter_has_a_help_text(run: Run, path: str, command: Any) -> None:
    assert command.help
    assert [parameter.name for parameter in command.params if not getattr(parameter, "help", "")] == []
    shown = run(*path.split(), "--help")
    assert shown.exit_code == 0
    assert command.help.split()[0] in shown.stdout


def test_version(run: Run) -> None:
    shown = run("--version")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("cognition")
    assert shown.stdout.count("\n") == 1


def test_commands_of_a_group_have_different_help_texts() -> None:
    texts = [(path.split()[0], command.help) for path, command in COMMANDS if path]
    assert len(texts) == len(set(texts))


def test_shared_options_are_explained_for_each_command() -> None:
    parameters = {
        (path, parameter.name): parameter for path, command in COMMANDS for parameter in command.params
    }
    assert "a new chat" in parameters["ask", "chat"].help
    assert "a new chat" not in parameters["agents list", "chat"].help
    assert parameters["ask", "policy"].default == "AUTO_PRO"
    assert parameters["agents resume", "policy"].default is None
    assert "its last run" in parameters["agents resume", "policy"].help
    assert "Required: ids of two to five experts" in parameters["council", "participants"].help
