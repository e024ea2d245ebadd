"""Programs whose streams are closed, or whose output is no longer read."""

import os
import subprocess

import pytest

from apps.cli.main import SIGPIPE_EXIT_CODE
from tests.unit.apps.cli.conftest import PROGRAM


@pytest.mark.parametrize(
    ("command", "closed"), [("chat", "<&-"), ("ask hello", ">&-"), ("ask hello", "2>&-"), ("--help", ">&-")]
)
def test_closed_streams_are_not_an_error(bare_environment: dict[str, str], command: str, closed: str) -> None:
    shell = ["sh", "-c", f'"$@" {command} {closed}', "sh", *PROGRAM]
    completed = subprocess.run(
        shell, env=bare_environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    assert "Traceback" not in completed.stderr


@pytest.mark.parametrize(("command", "both"), [("chat", False), ("chat", True), ("doctor", False)])
def test_a_closed_pipe_causes_no_error_output(
    bare_environment: dict[str, str], command: str, both: bool
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    completed = subprocess.run(
        [*PROGRAM, *command.split()],
        env=bare_environment,
        input=b"hello\n" * 3,
        stdout=writer,
        stderr=writer if both else subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert completed.returncode == SIGPIPE_EXIT_CODE, completed.stderr
    stderr = b"" if both else completed.stderr
    assert [line for line in stderr.splitlines() if not line.startswith(b"The models are rehearsed")] == []
