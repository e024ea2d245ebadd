"""A council from the command line: a live table of its rounds, then the report."""

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
from apps.cli.terminal.view import notice_line, printable, readable
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
    """Hold a council and print its report, or all of it as JSON.

    Raises:
        InvalidInput: It can't be held as asked for, or the user has no such chat.
        typer.BadParameter: It may not have so many rounds.
        typer.Exit: Nobody answered.
    """
    _check(rounds)
    if chat:
        check_known(user, chat)
    asked = {"question": readable(question), "participants": readable(participants), "rounds": rounds}
    held = asyncio.run(_hold(asked, chat, Context(user_id=user, policy=policy), as_json=as_json))
    if as_json:
        typer.echo(json.dumps(held.deliberation, ensure_ascii=False, indent=2))
    else:
        if held.deliberation["rehearsal"]:
            typer.echo(NOTICE, err=True)
        told = printable("\n\n".join(filter(None, [held.report, contributions(held.deliberation)])))
        if sys.stdout.isatty():
            Console().print(Markdown(told))
        else:
            typer.echo(told)
    if held.deliberation["outcome"] == "failed":
        raise typer.Exit(1)


def _check(rounds: int | None) -> None:
    """Refuse what the council would make another number of: who types it means what it says."""
    most = process_settings().council_rounds_max
    if rounds is not None and not 1 <= rounds <= most:
        msg = f"{rounds} is no number of rounds: give one from 1 to {most}."
        raise typer.BadParameter(msg, param_hint="'--rounds'")


async def _hold(asked: dict[str, Any], chat: str, context: Context, *, as_json: bool) -> CouncilResult:
    async with open_client(process_settings()) as session:
        if chat:
            asked = {**asked, "messages": await session.messages(context.user_id, chat)}
        shown = _last if as_json else _live if sys.stdout.isatty() else _plain
        async with aclosing(session.council(asked, context)) as events:
            held = await shown(events)
        return replace(held, deliberation={**held.deliberation, "rehearsal": session.rehearsed})


def contributions(told: dict[str, Any]) -> str:
    """What each expert said last, for a report that has a synthesis in the place of it; else empty."""
    if told["outcome"] != "synthesis":
        return ""
    last = {said["alias"]: (held["round"], said) for held in told["rounds"] for said in held["contributions"]}
    parts = ["# What each said last"]
    for seat in told["roster"]:
        if seat["alias"] in last:
            current, said = last[seat["alias"]]
            quoted = "\n".join(f"> {line}".rstrip() for line in said["text"].splitlines())
            parts.append(f"**{seat['alias']} ({seat['role']}), round {current}:**\n{quoted}")
    return "\n\n".join(parts)


async def _last(events: AsyncIterator[Event]) -> CouncilResult:
    return [event async for event in events if isinstance(event, CouncilResult)][-1]


async def _plain(events: AsyncIterator[Event]) -> CouncilResult:
    """Say on standard error what happens."""
    held = CouncilResult("", {})
    async for event in events:
        if isinstance(event, CouncilResult):
            held = event
        elif line := notice_line(event.event):
            typer.echo(printable(line), err=True)
    return held


async def _live(events: AsyncIterator[Event]) -> CouncilResult:
    """Draw the table anew at each event; it stays above the report."""
    held, rounds = CouncilResult("", {}), Rounds()
    with Live(rounds.table(), refresh_per_second=8) as live:
        async for event in events:
            if isinstance(event, CouncilResult):
                held = event
            else:
                rounds.take(event.event)
                live.update(rounds.table())
    return held


class Rounds:
    """The table of a council: a row for each participant, a column for each round."""

    def __init__(self) -> None:
        self._roster: list[dict[str, str]] = []
        self._rounds = 0
        self._cells: dict[tuple[str, int], Text | Spinner] = {}
        self._tokens = {"input": 0, "output": 0}
        self._phase: Text | Spinner = Spinner("dots", "convening")

    def take(self, event: dict[str, Any]) -> None:
        """Draw what happened into its cell."""
        cell = event.get("alias", ""), event.get("round", 0)
        for kind, tokens in event.get("tokens", {}).items():
            self._tokens[kind] += tokens
        match event:
            case {"event": "convened", "roster": roster, "rounds": rounds}:
                self._roster, self._rounds = roster, rounds
            case {"event": "round", "round": current}:
                self._phase = Spinner("dots", f"round {current} of {self._rounds}")
            case {"event": "speaks"}:
                self._cells[cell] = Spinner("dots", "speaks")
            case {"event": "spoke", "stance": stance, "confidence": confidence}:
                sure = "" if confidence is None else f" {confidence} %"
                self._cells[cell] = Text(printable(f"{stance or 'spoke'}{sure}"), style="green")
            case {"event": "absent", "reason": reason}:
                self._cells[cell] = Text(printable(f"absent: {reason}"), style="red")
            case {"event": "synthesis", "level": level}:
                self._phase = Spinner("dots", f"synthesis by {level}")
            case {"event": "ended", "outcome": outcome, "usage": usage}:
                self._phase = Text(f"{outcome}, {pluralize(usage['calls'], 'call')}")
                self._tokens = {"input": usage["input"], "output": usage["output"]}

    def table(self) -> Table:
        """The table as it stands."""
        spent = f"{self._tokens['input']:,} tokens in, {self._tokens['output']:,} out"
        table = Table(caption=spent, caption_justify="left")
        table.add_column(self._phase)
        for number in range(1, self._rounds + 1):
            table.add_column(f"round {number}")
        for seat in self._roster:
            cells = [self._cells.get((seat["alias"], n), Text("")) for n in range(1, self._rounds + 1)]
            table.add_row(Text(printable(f"{seat['alias']}\n{seat['role']}")), *cells)
        return table
