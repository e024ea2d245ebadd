"""Giving files to a chat from the command line."""

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import typer

from apps.cli.client.chat_ids import chat_fields, new_chat, resume_command, save_chat_name
from apps.cli.client.client import Client
from apps.cli.client.connect import open_client
from apps.cli.client.uploads import Taken, take_files
from apps.cli.terminal.progress import Progressing, progressing
from apps.cli.terminal.view import INGESTED, printable
from cognition.settings import Settings, process_settings
from cognition.storage.files import FileRejected
from cognition.text.plural import pluralize

MARKS = {"INDEXED": "–", "FAILED": "✗"}
"""Before the line of a file that could not be read; of all others something is."""


def run(paths: Sequence[Path], user: str, chat: str, *, recursive: bool, as_json: bool) -> None:
    """Ingest files and print what became of each.

    Raises:
        typer.Exit: One of them could not be read, or the user stopped it.
    """
    again = "give the same command again"
    if not chat:
        chat = new_chat()
        again += f" with --chat {chat}"
    try:
        report = asyncio.run(_ingest(process_settings(), paths, user, chat, recursive))
    except KeyboardInterrupt:
        typer.echo(f"Stopped: {again} to go on.", err=True)
        raise typer.Exit(130) from None
    read = [resource["status"] not in MARKS for resource in report["resources"]]
    if as_json:
        typer.echo(json.dumps({**chat_fields(user, chat), **report}, ensure_ascii=False, indent=2))
    else:
        for resource in report["resources"]:
            typer.echo(printable(line(resource)))
        for repeated in report["repeated"]:
            typer.echo(printable(f"= {repeated}"))
        for refusal in report["refused"]:
            typer.echo(printable(f"✗ {refusal}"), err=True)
        if any(read):
            typer.echo(printable(f"Ask about it: {resume_command(chat)}"), err=True)
    if report["refused"] or not all(read):
        raise typer.Exit(1)


def line(resource: dict[str, Any]) -> str:
    """A resource and where it is, in one line."""
    mark = MARKS.get(resource["status"], "✓")
    return f"{mark} {resource['name']}: {where(resource['status'], resource['chunks'], resource['error'])}"


def where(status: str, chunks: int, error: str) -> str:
    """What became of a resource, in words."""
    told = INGESTED[status] + (f", {pluralize(chunks, 'passage')}" if status == "VECTORIZED_SUM_UP" else "")
    return f"{told}. {error}" if error else told


async def _ingest(
    settings: Settings, paths: Sequence[Path], user: str, chat: str, recursive: bool
) -> dict[str, Any]:
    async with open_client(settings) as session:
        with progressing(shown=sys.stderr.isatty()) as progress:
            taken, refused = await _take(session, settings, paths, user, chat, recursive, progress)
            if taken:
                await save_chat_name(settings, user, chat)
            resources: list[dict[str, Any]] = []
            ids = list(dict.fromkeys(file.resource.id for file in taken))
            async with aclosing(session.ingest(user, chat, ids)) as events:
                async for event in events:
                    if event["type"] == "ingested":
                        resources = event["resources"]
                    else:
                        progress.take(event)
    return {"resources": resources, "repeated": list(_repeated(taken)), "refused": refused}


def _repeated(taken: Sequence[Taken]) -> Iterator[str]:
    """A sentence for each file whose content another stands for: one that came before, or is in the chat."""
    seen: set[str] = set()
    for file in taken:
        if file.resource.id in seen or file.name != file.resource.name:
            yield f"{file.path}: same content as {file.resource.name}"
        seen.add(file.resource.id)


async def _take(
    session: Client,
    settings: Settings,
    paths: Sequence[Path],
    user: str,
    chat: str,
    recursive: bool,
    progress: Progressing,
) -> tuple[list[Taken], list[str]]:
    """Store the files; and why some were not taken."""
    taken: list[Taken] = []
    refused: list[str] = []
    async with aclosing(take_files(session, settings, user, chat, paths, recursive=recursive)) as files:
        async for file in files:
            if isinstance(file, FileRejected):
                refused.append(str(file))
            else:
                taken.append(file)
                progress.add(file.resource)
    return taken, refused
