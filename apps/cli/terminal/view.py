"""How a turn looks: live on a terminal, plain in a pipe."""

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
"""Events after which what was streamed no longer counts."""

INGESTED = {
    "PUT_IN_CONTEXT": "read whole",
    "VECTORIZED_SUM_UP": "searchable",
    "INDEXED": "registered only",
    "FAILED": "failed",
    "PENDING_INGESTION": "waiting",
}
"""What became of a file, in words."""


class View(Protocol):
    """Where a chat is shown."""

    def note(self, text: str) -> None:
        """Say something that is not part of the conversation."""
        ...

    async def show(self, turn: AsyncIterator[Event]) -> TurnResult:
        """Show a turn as it happens, and return its answer."""
        ...


class PlainView:
    """Answers on standard output, all else on standard error."""

    def note(self, text: str) -> None:
        """Say something on standard error."""
        typer.echo(printable(text), err=True)

    async def show(self, turn: AsyncIterator[Event]) -> TurnResult:
        """Print the answer when it is whole."""
        answer = TurnResult("")
        async for event in turn:
            if isinstance(event, Notice) and (line := notice_line(event.event)):
                self.note(line)
            if isinstance(event, TurnResult):
                answer = event
        typer.echo(printable(answer.text))
        return answer


class TerminalView:
    """Text as it is said, then the answer as Markdown; dim lines for what happens beside it."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)

    def note(self, text: str) -> None:
        """Say something in a dim line."""
        self.console.print(Text(printable(text), style="dim"))

    async def show(self, turn: AsyncIterator[Event]) -> TurnResult:
        """Stream the turn."""
        said, reading, answer = "", "", TurnResult("")
        with Live(console=self.console, transient=True, refresh_per_second=12) as live:
            async for event in turn:
                match event:
                    case Token(text):
                        said += text
                    case Notice({"type": "ingest"} as happened):
                        said, reading = self._notice(happened, said), reading_line(happened)
                    case Notice(happened):
                        said = self._notice(happened, said)
                    case TurnResult():
                        said, answer = "", event
                live.update(self._tail(said or reading))
        self._answer(answer)
        return answer

    def _notice(self, event: dict[str, Any], said: str) -> str:
        """Show an event above what is being said, and return what remains of that."""
        if event["type"] in DROPS:
            said = ""
        elif event["type"] == "tool" and said:
            self.console.print(Markdown(printable(said)))
            said = ""
        if line := notice_line(event):
            self.note(line)
        return said

    def _answer(self, answer: TurnResult) -> None:
        text = printable(answer.text)
        failed = "error" in answer.account
        self.console.print(Text(text, style="red") if failed else Markdown(text))

    def _tail(self, said: str) -> Text:
        """The end of the text that fits on the screen: what has left it can't be drawn again."""
        width, height = self.console.size
        shown = printable(said[-width * height :])
        lines = Text(shown).wrap(self.console, width)
        return Text("\n").join(lines[-max(height - 2, 1) :])


def reading_line(event: dict[str, Any]) -> str:
    """How far a file is, in one line; empty when it is done."""
    match event:
        case {"name": name, "step": "vectorize", "share": share}:
            return f"… {name}: {share:.0%}"
        case {"name": name, "step": _}:
            return f"… {name}"
    return ""


def notice_line(event: dict[str, Any]) -> str:
    """An event in one line; empty for those that nobody needs to see."""
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
            return f"… once more: {reason}"
        case {"type": "fallback", "model": model}:
            return f"↓ {model} is down, another level stands in"
        case {"type": "ingest", "name": name, "status": status}:
            return f"· {name}: {INGESTED[status]}"
        case {"type": "council"}:
            return _council_line(event)
        case {"type": "delegation"}:
            return _delegation_line(event)
    return ""


def _delegation_line(event: dict[str, Any]) -> str:
    who = event["sub_sid"]
    match event:
        case {"event": "started", "role": role}:
            return f"· {who} is at work ({role})"
        case {"event": "tool", "name": name, "status": "start"}:
            return f"· {who}: {name}"
        case {"event": "level", "to": target}:
            return f"↑ {who} goes on at {target}"
        case {"event": "retry", "reason": reason}:
            return f"… {who} once more: {reason}"
        case {"event": "ended", "status": status}:
            return f"· {who}: {status.replace('_', ' ')}"
    return ""


def _council_line(event: dict[str, Any]) -> str:
    match event:
        case {"event": "convened", "roster": roster, "rounds": rounds}:
            seated = ", ".join(f"{seat['alias']} ({seat['role']})" for seat in roster)
            return f"· {seated}; {pluralize(rounds, 'round')}"
        case {"event": "failed"}:
            return "✗ the chat could not be summarised for the council"
        case {"event": "round", "round": current, "rounds": rounds}:
            return f"· round {current} of {rounds}"
        case {"event": "spoke", "alias": alias, "stance": stance, "confidence": confidence}:
            sure = "" if confidence is None else f" ({confidence} %)"
            return f"· {alias}: {stance or 'spoke'}{sure}"
        case {"event": "absent", "alias": alias, "reason": reason}:
            return f"✗ {alias} is absent: {reason}"
        case {"event": "retry", "who": who, "reason": reason}:
            return f"… {who} once more: {reason}"
        case {"event": "synthesis", "level": level}:
            return f"· synthesis by {level}"
    return ""


def show_told(told: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print what was told: all of it as JSON, or a text that says it."""
    typer.echo(json.dumps(told, ensure_ascii=False, indent=2) if as_json else printable(text))


def printable(text: str) -> str:
    """The text without control characters, with which it could write anywhere on the terminal."""
    return CONTROL.sub("", text.replace("\r\n", "\n"))


def readable(text: str) -> str:
    """An argument of the command line whose bytes were no UTF-8, as text."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
