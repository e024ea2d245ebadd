"""The display of a turn: live on a terminal, plain in a pipe."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any, Protocol

import typer
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from apps.cli.client.events import Event, Notice, Token, TurnResult
from cognition.text.plural import pluralize

CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
DROPS = ("level", "retry", "fallback")
"""Events that discard the text streamed before them."""

INGESTED = {
    "PUT_IN_CONTEXT": "read in full",
    "VECTORIZED_SUM_UP": "searchable",
    "INDEXED": "registered only",
    "FAILED": "failed",
    "PENDING_INGESTION": "waiting",
}
"""The statuses of resources in words."""


class View(Protocol):
    """The display of a chat."""

    def note(self, text: str) -> None:
        """Show a line that is not part of the conversation."""
        ...

    async def show(self, turn: AsyncIterator[Event]) -> TurnResult:
        """Show a turn as it happens and return its result."""
        ...


class PlainView:
    """Plain text: answers on standard output, everything else on standard error."""

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        typer.echo(printable(text), err=True)

    async def show(self, turn: AsyncIterator[Event]) -> TurnResult:
        """Print the answer once it is complete."""
        answer = TurnResult("")
        async for event in turn:
            if isinstance(event, Notice) and (line := notice_line(event.event)):
                self.note(line)
            if isinstance(event, TurnResult):
                answer = event
        typer.echo(printable(answer.text))
        return answer


class TerminalView:
    """A live view: streamed text, then the answer as Markdown, and dim lines for other events."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)

    def note(self, text: str) -> None:
        """Print a dim line."""
        self.console.print(Text(printable(text), style="dim"))

    async def show(self, turn: AsyncIterator[Event]) -> TurnResult:
        """Stream a turn."""
        streamed, reading, answer = "", "", TurnResult("")
        with Live(console=self.console, transient=True, refresh_per_second=12) as live:
            async for event in turn:
                match event:
                    case Token(text):
                        streamed += text
                    case Notice({"type": "ingest"} as notice):
                        streamed, reading = self._notice(notice, streamed), reading_line(notice)
                    case Notice(notice):
                        streamed = self._notice(notice, streamed)
                    case TurnResult():
                        streamed, answer = "", event
                live.update(self._tail(streamed or reading))
        self._answer(answer)
        return answer

    def _notice(self, event: dict[str, Any], streamed: str) -> str:
        """Show an event above the streamed text and return the text that remains."""
        if event["type"] in DROPS:
            streamed = ""
        elif event["type"] == "tool" and streamed:
            self.console.print(Markdown(printable(streamed)))
            streamed = ""
        if line := notice_line(event):
            self.note(line)
        return streamed

    def _answer(self, answer: TurnResult) -> None:
        text = printable(answer.text)
        failed = "error" in answer.account
        self.console.print(Text(text, style="red") if failed else Markdown(text))

    def _tail(self, streamed: str) -> Text:
        """Return the end of the text that fits on the screen, because lines above it can't be redrawn."""
        width, height = self.console.size
        text = printable(streamed[-width * height :])
        lines = Text(text).wrap(self.console, width)
        return Text("\n").join(lines[-max(height - 2, 1) :])


def reading_line(event: dict[str, Any]) -> str:
    """Return the progress of a file as a line, or an empty string if it is finished."""
    match event:
        case {"name": name, "step": "vectorize", "share": share}:
            return f"… {name}: {share:.0%}"
        case {"name": name, "step": _}:
            return f"… {name}"
    return ""


def notice_line(event: dict[str, Any]) -> str:
    """Return an event as a line, or an empty string for events that are not shown."""
    match event:
        case {"type": "level", "from": start, "to": target}:
            return f"↑ from {start} to {target}"
        case {"type": "tool", "name": name, "status": "start"}:
            return f"· {name}"
        case {"type": "memory", "action": action, "memory_id": memory_id}:
            return f"· memory {action}: {memory_id}"
        case {"type": "skill", "action": action, "skill_id": skill_id}:
            return f"· skill {action}: {skill_id}"
        case {"type": "retry", "reason": reason}:
            return f"… retrying: {reason}"
        case {"type": "fallback", "model": model}:
            return f"↓ {model} is unavailable, using another level"
        case {"type": "ingest", "name": name, "status": status}:
            return f"· {name}: {INGESTED[status]}"
        case {"type": "council"}:
            return _council_line(event)
        case {"type": "delegation"}:
            return _delegation_line(event)
    return ""


def _delegation_line(event: dict[str, Any]) -> str:
    agent = event["sub_sid"]
    match event:
        case {"event": "started", "role": role}:
            return f"· {agent}: started ({role})"
        case {"event": "tool", "name": name, "status": "start"}:
            return f"· {agent}: {name}"
        case {"event": "level", "to": target}:
            return f"↑ {agent}: moved to {target}"
        case {"event": "retry", "reason": reason}:
            return f"… {agent} retries: {reason}"
        case {"event": "ended", "status": status}:
            return f"· {agent}: {status.replace('_', ' ')}"
    return ""


def _council_line(event: dict[str, Any]) -> str:
    match event:
        case {"event": "convened", "roster": roster, "rounds": rounds}:
            seats = ", ".join(f"{seat['alias']} ({seat['role']})" for seat in roster)
            return f"· {seats}; {pluralize(rounds, 'round')}"
        case {"event": "failed"}:
            return "✗ the chat could not be summarised for the council"
        case {"event": "round", "round": current, "rounds": rounds}:
            return f"· round {current} of {rounds}"
        case {"event": "spoke", "alias": alias, "stance": stance, "confidence": confidence}:
            suffix = "" if confidence is None else f" ({confidence} %)"
            return f"· {alias}: {stance or 'spoke'}{suffix}"
        case {"event": "absent", "alias": alias, "reason": reason}:
            return f"✗ {alias} is absent: {reason}"
        case {"event": "retry", "who": who, "reason": reason}:
            return f"… {who} retries: {reason}"
        case {"event": "synthesis", "level": level}:
            return f"· synthesis by {level}"
    return ""


def print_result(result: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print a result, either as JSON or as the given text."""
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2) if as_json else printable(text))


def printable(text: str) -> str:
    """Return the text without control characters, which could write anywhere on the terminal."""
    return CONTROL.sub("", text.replace("\r\n", "\n"))


def decode_argument(text: str) -> str:
    """Return a command-line argument as valid text, with bytes that are not UTF-8 replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
