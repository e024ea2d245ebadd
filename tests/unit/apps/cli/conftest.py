"""Fixtures that run the command: in this process if possible, otherwise as a program."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from apps.cli.main import app
from cognition.settings import process_settings

ROOT = Path(__file__).parents[4]
PROGRAM = [sys.executable, "-c", "from apps.cli.main import app; app()"]

Run = Callable[..., Result]


@pytest.fixture
def run() -> Iterator[Run]:
    """Return a function that runs a command on the test's home folder, without a key."""
    process_settings.cache_clear()
    runner = CliRunner()
    yield lambda *arguments, stdin=b"": runner.invoke(app, list(arguments), input=stdin)
    process_settings.cache_clear()


@pytest.fixture
def bare_environment(tmp_path: Path) -> dict[str, str]:
    """Return a minimal environment, without any variables of the developer."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COGNITION_HOME": str(tmp_path / "home")}


@pytest.fixture
def program(
    bare_environment: dict[str, str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs a command as a separate program."""

    def run(*arguments: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[str]:
        completed = subprocess.run(
            [*PROGRAM, *arguments],
            input=stdin,
            env={**bare_environment, **variables},
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return subprocess.CompletedProcess(
            completed.args, completed.returncode, completed.stdout.decode(), completed.stderr.decode()
        )

    return run
