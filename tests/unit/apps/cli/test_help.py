from collections.abc import Iterator
from typing import Any

import pytest
import typer

from apps.cli.main import app
from tests.unit.apps.cli.conftest import Run


def commands(command: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Every command and group with its path."""
    yield " ".join(path), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *path, name)


EVERY = list(commands(typer.main.get_command(app)))


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_each_command_and_all_it_may_be_given_is_explained(run: Run, path: str, command: Any) -> None:
    assert command.help
    assert [parameter.name for parameter in command.params if not getattr(parameter, "help", "")] == []
    shown = run(*path.split(), "--help")
    assert shown.exit_code == 0
    assert command.help.split()[0] in shown.stdout


def test_the_version_is_told(run: Run) -> None:
    shown = run("--version")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("cognition")
    assert shown.stdout.count("\n") == 1


def test_no_two_commands_of_a_group_say_the_same_of_themselves(run: Run) -> None:
    told = [(path.split()[0], command.help) for path, command in EVERY if path]
    assert len(told) == len(set(told))


def test_the_same_option_is_explained_as_each_command_takes_it() -> None:
    told = {(path, parameter.name): parameter for path, command in EVERY for parameter in command.params}
    assert "a new chat" in told["ask", "chat"].help
    assert "a new chat" not in told["agents list", "chat"].help
    assert told["ask", "policy"].default == "AUTO_PRO"
    assert told["agents resume", "policy"].default is None
    assert "its last run" in told["agents resume", "policy"].help
    assert "Required: ids of two to five experts" in told["council", "participants"].help
