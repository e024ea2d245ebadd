"""The chat on a pseudo-terminal."""

import os
import pty
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from threading import Event
from time import monotonic

import pytest

from cognition.rehearsal import RehearsalServer, Reply, Request
from tests.conftest import LITE
from tests.unit.apps.cli.conftest import PROGRAM

EDITING = "\x1b[?2004h"
"""The escape sequence that the line editor sends when it starts reading."""

SECONDS = 20
ENTER, CTRL_C, CTRL_D = "\r", "\x03", "\x04"


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, arguments: list[str], environment: dict[str, str], folder: Path) -> None:
        self._side, other = pty.openpty()
        self.program = subprocess.Popen(
            [*PROGRAM, *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            env={**environment, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            cwd=folder,
            start_new_session=True,
        )
        os.close(other)
        self._shown = ""

    def type(self, keys: str) -> None:
        os.write(self._side, keys.encode())

    def interrupt(self) -> None:
        """Send SIGINT, as the kernel does on Ctrl-C unless the terminal is in raw mode."""
        os.killpg(self.program.pid, signal.SIGINT)

    def shows(self, text: str) -> str:
        """Read until a text appears; return everything read since the previous call."""
        self._await(lambda shown: text in shown)
        before, _, self._shown = self._shown.partition(text)
        return before + text

    def _await(self, condition: Callable[[str], bool]) -> None:
        deadline = monotonic() + SECONDS
        while not condition(self._shown):
            if not select([self._side], [], [], max(deadline - monotonic(), 0))[0]:
                raise AssertionError(f"text did not appear: {self._shown!r}")
            self._shown += os.read(self._side, 65_536).decode("utf-8", "replace")

    def prompts(self) -> None:
        """Wait until the line editor reads."""
        self.shows(EDITING)

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        os.close(self._side)


@pytest.fixture
def called(rehearsal: RehearsalServer) -> Event:
    """Return an event that is set when the slow model is called."""
    called = Event()

    def answer(request: Request) -> Reply:
        if request.texts[-1].startswith("slow"):
            called.set()
            return Reply(text="too late", latency=60)
        return Reply(text=f"answer to {request.texts[-1]}", chunks=3)

    rehearsal.script(LITE, answer)
    return called


@pytest.fixture
def start(
    rehearsal: RehearsalServer, bare_environment: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., Terminal]]:
    terminals: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        keys = {"GOOGLE_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": rehearsal.url}
        terminals.append(Terminal(list(arguments), {**bare_environment, **keys}, tmp_path))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()


def test_ctrl_c_stops_the_turn_and_ctrl_d_the_program(
    start: Callable[..., Terminal], called: Event, tmp_path: Path
) -> None:
    terminal = start("chat", "--chat", "work")
    terminal.prompts()
    terminal.type("slow please" + ENTER)
    assert called.wait(20)
    terminal.interrupt()
    terminal.shows("Stopped.")
    terminal.prompts()
    terminal.type("half a line" + CTRL_C)
    terminal.prompts()
    terminal.type("quick" + ENTER)
    terminal.shows("answer to quick")
    terminal.prompts()
    terminal.type(CTRL_D)
    terminal.shows("cognition chat --chat work")
    assert terminal.program.wait(20) == 0
    assert "+quick" in (tmp_path / "home" / "chat_history").read_text()

    again = start("chat", "--chat", "work")
    assert "> quick" in again.shows("answer to quick")
    again.prompts()
    again.type("/quit" + ENTER)
    assert again.program.wait(20) == 0


def test_the_chat_continues_after_a_failed_turn(
    start: Callable[..., Terminal], rehearsal: RehearsalServer
) -> None:
    rehearsal.script(LITE, [Reply(failure="blocked"), Reply(text="better")])
    terminal = start("chat")
    terminal.prompts()
    terminal.type("first" + ENTER)
    terminal.prompts()
    terminal.type("second" + ENTER)
    terminal.shows("better")
    terminal.prompts()
    terminal.type(CTRL_D)
    assert terminal.program.wait(20) == 0


def test_a_file_dragged_into_a_line_is_attached(
    start: Callable[..., Terminal], rehearsal: RehearsalServer, tmp_path: Path
) -> None:
    note = tmp_path / "my note.md"
    note.write_text("The spare key hangs behind the tide table.")
    rehearsal.script(LITE, [Reply(text="I have read it")])
    terminal = start("chat", "--chat", "work")
    terminal.prompts()
    terminal.type("/nowhere/missing.pdf" + ENTER)
    terminal.shows("There is no file at '/nowhere/missing.pdf'")
    terminal.shows("I have read it")
    terminal.prompts()
    terminal.type(f"'{note}' what is this?" + ENTER)
    terminal.shows("my note.md: attached")
    terminal.shows("I have read it")
    terminal.prompts()
    terminal.type(CTRL_D)
    assert terminal.program.wait(SECONDS) == 0
    prompt = "".join(rehearsal.requests[-1].texts)
    assert "my note.md what is this?" in prompt
    assert "tide table" in prompt

    again = start("chat", "--chat", "work")
    assert "Type /help for a list of commands" in again.shows("> my note.md what is this?")
    shown = again.shows(EDITING)
    assert "<attachment" not in shown
    assert "/help" not in shown
    again.type(CTRL_D)
    assert again.program.wait(SECONDS) == 0
