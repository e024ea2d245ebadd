"""Giving files to a chat from the command line."""

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import typer

from cognition.cli.files import take_files
from cognition.cli.progress import Progressing, progressing
from cognition.cli.session import Session, new_chat, open_session
from cognition.cli.view import INGESTED, printable
from cognition.settings import Settings, process_settings
from cognition.storage.files import NotTaken
from cognition.storage.registry import Resource


def run(paths: Sequence[Path], user: str, chat: str, *, recursive: bool, as_json: bool) -> None:
    """Ingest files and print what became of each.

    Raises:
        typer.Exit: One of them was not taken, or could not be dealt with.
    """
    chat = chat or new_chat()
    report = asyncio.run(_ingest(process_settings(), paths, user, chat, recursive))
    if as_json:
        typer.echo(json.dumps({"chat_id": chat, **report}, ensure_ascii=False, indent=2))
    else:
        for resource in report["resources"]:
            typer.echo(printable(line(resource)))
        for refusal in report["refused"]:
            typer.echo(printable(f"✗ {refusal}"), err=True)
        if report["resources"]:
            typer.echo(f"Ask about it: cognition chat --chat {chat}", err=True)
    if report["refused"] or any(resource["status"] == "FAILED" for resource in report["resources"]):
        raise typer.Exit(1)


def line(resource: dict[str, Any]) -> str:
    """A resource and where it is, in one line."""
    mark = "✗" if resource["status"] == "FAILED" else "✓"
    return f"{mark} {resource['name']}: {where(resource['status'], resource['chunks'], resource['error'])}"


def where(status: str, chunks: int, error: str) -> str:
    """What became of a resource, in words."""
    told = INGESTED[status] + (f", {chunks:,} passages" if status == "VECTORIZED_SUM_UP" else "")
    return f"{told}. {error}" if error else told


async def _ingest(
    settings: Settings, paths: Sequence[Path], user: str, chat: str, recursive: bool
) -> dict[str, Any]:
    async with open_session(settings) as session:
        with progressing(shown=sys.stderr.isatty()) as progress:
            taken, refused = await _take(session, settings, paths, user, chat, recursive, progress)
            resources: list[dict[str, Any]] = []
            async with aclosing(session.ingest(user, chat, [resource.id for resource in taken])) as events:
                async for event in events:
                    if event["type"] == "ingested":
                        resources = event["resources"]
                    else:
                        progress.take(event)
    return {"resources": resources, "refused": refused}


async def _take(
    session: Session,
    settings: Settings,
    paths: Sequence[Path],
    user: str,
    chat: str,
    recursive: bool,
    progress: Progressing,
) -> tuple[list[Resource], list[str]]:
    """Store the files, each content once; and why some were not taken."""
    taken: dict[str, Resource] = {}
    refused: list[str] = []
    async with aclosing(take_files(session, settings, user, chat, paths, recursive=recursive)) as files:
        async for file in files:
            if isinstance(file, NotTaken):
                refused.append(str(file))
            else:
                taken[file.id] = file
                progress.add(file)
    return list(taken.values()), refused
