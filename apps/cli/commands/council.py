"""The `cognition council` command: a live table of the rounds, then the report."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import typer
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from apps.cli.client.chat_ids import check_known
from apps.cli.client.connect import open_client
from apps.cli.client.events import CouncilResult, Notice
from apps.cli.terminal.view import decode_argument, notice_line, printable
from cognition.context import Context
from cognition.levels import Policy
from cognition.rehearsal import NOTICE
from cognition.settings import process_settings
from cognition.text.plural import pluralize

Event = Notice | CouncilResult


def run(
    question: str,
    participants: str,
    user: str,
    chat: str,
    policy: Policy,
    rounds: int | None,
    *,
    as_json: bool,
) -> None:
    """Hold a council and print its report, or the whole deliberation as JSON.

    Raises:
        InvalidInput: If the question or the participants are invalid, or the user has no such chat.
        typer.BadParameter: If the number of rounds is out of range.
        typer.Exit: If no participant answered.
    """
    _check_rounds(rounds)
    if chat:
        check_known(user, chat)
    request = {
        "question": decode_argument(question),
        "participants": decode_argument(participants),
        "rounds": rounds,
    }
    result = asyncio.run(_hold(request, chat, Context(user_id=user, policy=policy), as_json=as_json))
    if as_json:
        typer.echo(json.dumps(result.deliberation, ensure_ascii=False, indent=2))
    else:
        if result.deliberation["rehearsal"]:
            typer.echo(NOTICE, err=True)
        text = printable("\n\n".join(filter(None, [result.report, contributions(result.deliberation)])))
        if sys.stdout.isatty():
            Console().print(Markdown(text))
        else:
            typer.echo(text)
    if result.deliberation["outcome"] == "failed":
        raise typer.Exit(1)


def _check_rounds(rounds: int | None) -> None:
    """Reject numbers that the council would silently replace with its default or its limit."""
    most = process_settings().council_rounds_max
    if rounds is not None and not 1 <= rounds <= most:
        msg = f"{rounds} is not in the range from 1 to {most}."
        raise typer.BadParameter(msg, param_hint="'--rounds'")


async def _hold(request: dict[str, Any], chat: str, context: Context, *, as_json: bool) -> CouncilResult:
    async with open_client(process_settings()) as client:
        if chat:
            request = {**request, "messages": await client.messages(context.user_id, chat)}
        show = _result_only if as_json else _live if sys.stdout.isatty() else _plain
        async with aclosing(client.council(request, context)) as events:
            result = await show(events)
        return replace(result, deliberation={**result.deliberation, "rehearsal": client.rehearsed})


def contributions(deliberation: dict[str, Any]) -> str:
    """Return each expert's last contribution, or an empty string if the report already contains them."""
    if deliberation["outcome"] != "synthesis":
        return ""
    last = {
        contribution["alias"]: (completed["round"], contribution)
        for completed in deliberation["rounds"]
        for contribution in completed["contributions"]
    }
    parts = ["# Last contributions"]
    for seat in deliberation["roster"]:
        if seat["alias"] in last:
            number, contribution = last[seat["alias"]]
            quoted = "\n".join(f"> {line}".rstrip() for line in contribution["text"].splitlines())
            parts.append(f"**{seat['alias']} ({seat['role']}), round {number}:**\n{quoted}")
    return "\n\n".join(parts)


async def _result_only(events: AsyncIterator[Event]) -> CouncilResult:
    return [event async for event in events if isinstance(event, CouncilResult)][-1]


async def _plain(events: AsyncIterator[Event]) -> CouncilResult:
    """Print events on standard error and return the result."""
    result = CouncilResult("", {})
    async for event in events:
        if isinstance(event, CouncilResult):
            result = event
        elif line := notice_line(event.event):
            typer.echo(printable(line), err=True)
    return result


async def _live(events: AsyncIterator[Event]) -> CouncilResult:
    """Update a table with each event and return the result. The table stays visible above the report."""
    result, rounds = CouncilResult("", {}), Rounds()
    with Live(rounds.table(), refresh_per_second=8) as live:
        async for event in events:
            if isinstance(event, CouncilResult):
                result = event
            else:
                rounds.update(event.event)
                live.update(rounds.table())
    return result


class Rounds:
    """The rounds of a council as a table: a row for each participant, a column for each round."""

    def __init__(self) -> None:
        self._roster: list[dict[str, str]] = []
        self._rounds = 0
        self._cells: dict[tuple[str, int], Text | Spinner] = {}
        self._tokens = {"input": 0, "output": 0}
        self._phase: Text | Spinner = Spinner("dots", "starting")

    def update(self, event: dict[str, Any]) -> None:
        """Update the table with an event."""
        cell = event.get("alias", ""), event.get("round", 0)
        for kind, tokens in event.get("tokens", {}).items():
            self._tokens[kind] += tokens
        match event:
            case {"event": "convened", "roster": roster, "rounds": rounds}:
                self._roster, self._rounds = roster, rounds
            case {"event": "round", "round": current}:
                self._phase = Spinner("dots", f"round {current} of {self._rounds}")
            case {"event": "speaks"}:
                self._cells[cell] = Spinner("dots", "speaking")
            case {"event": "spoke", "stance": stance, "confidence": confidence}:
                suffix = "" if confidence is None else f" {confidence} %"
                self._cells[cell] = Text(printable(f"{stance or 'spoke'}{suffix}"), style="green")
            case {"event": "absent", "reason": reason}:
                self._cells[cell] = Text(printable(f"absent: {reason}"), style="red")
            case {"event": "synthesis", "level": level}:
                self._phase = Spinner("dots", f"synthesis by {level}")
            case {"event": "ended", "outcome": outcome, "usage": usage}:
                self._phase = Text(f"{outcome}, {pluralize(usage['calls'], 'call')}")
                self._tokens = {"input": usage["input"], "output": usage["output"]}

    def table(self) -> Table:
        """Return the current table."""
        caption = f"{self._tokens['input']:,} tokens in, {self._tokens['output']:,} out"
        table = Table(caption=caption, caption_justify="left")
        table.add_column(self._phase)
        for number in range(1, self._rounds + 1):
            table.add_column(f"round {number}")
        for seat in self._roster:
            cells = [self._cells.get((seat["alias"], n), Text("")) for n in range(1, self._rounds + 1)]
            table.add_row(Text(printable(f"{seat['alias']}\n{seat['role']}")), *cells)
        return table
