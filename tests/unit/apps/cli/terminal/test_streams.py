"""Programs whose streams are closed, or read by nobody any more."""

import os
import subprocess

import pytest

from apps.cli.main import UNHEARD
from tests.unit.apps.cli.conftest import PROGRAM


@pytest.mark.parametrize(
    ("command", "closed"), [("chat", "<&-"), ("ask hello", ">&-"), ("ask hello", "2>&-"), ("--help", ">&-")]
)
def test_a_stream_that_the_caller_closed_is_no_error(
    bare_environment: dict[str, str], command: str, closed: str
) -> None:
    shell = ["sh", "-c", f'"$@" {command} {closed}', "sh", *PROGRAM]
    ran = subprocess.run(
        shell, env=bare_environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(("command", "both"), [("chat", False), ("chat", True), ("doctor", False)])
def test_who_stops_reading_hears_nothing_of_it(
    bare_environment: dict[str, str], command: str, both: bool
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [*PROGRAM, *command.split()],
        env=bare_environment,
        input=b"hello\n" * 3,
        stdout=writer,
        stderr=writer if both else subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert ran.returncode == UNHEARD, ran.stderr
    said = b"" if both else ran.stderr
    assert [line for line in said.splitlines() if not line.startswith(b"The models are rehearsed")] == []
