"""The `cognition ingest` command, which adds files to a chat."""

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
from apps.cli.client.uploads import StoredFile, store_files
from apps.cli.terminal.progress import IngestionProgress, show_progress
from apps.cli.terminal.view import INGESTED, printable
from cognition.settings import Settings, process_settings
from cognition.storage.files import FileRejected
from cognition.text.plural import pluralize

MARKS = {"INDEXED": "–", "FAILED": "✗"}
"""The marks of files that could not be read. All other files get a ✓."""


def run(paths: Sequence[Path], user: str, chat: str, *, recursive: bool, as_json: bool) -> None:
    """Ingest files and print the result for each.

    Raises:
        typer.Exit: If a file could not be read, or the user stopped the command.
    """
    retry = "Run the same command again"
    if not chat:
        chat = new_chat()
        retry += f" with --chat {chat}"
    try:
        report = asyncio.run(_ingest(process_settings(), paths, user, chat, recursive))
    except KeyboardInterrupt:
        typer.echo(f"Stopped. {retry} to continue.", err=True)
        raise typer.Exit(130) from None
    read = [resource["status"] not in MARKS for resource in report["resources"]]
    if as_json:
        typer.echo(json.dumps({**chat_fields(user, chat), **report}, ensure_ascii=False, indent=2))
    else:
        for resource in report["resources"]:
            typer.echo(printable(resource_line(resource)))
        for duplicate in report["repeated"]:
            typer.echo(printable(f"= {duplicate}"))
        for error in report["refused"]:
            typer.echo(printable(f"✗ {error}"), err=True)
        if any(read):
            typer.echo(printable(f"To ask about it: {resume_command(chat)}"), err=True)
    if report["refused"] or not all(read):
        raise typer.Exit(1)


def resource_line(resource: dict[str, Any]) -> str:
    """Return a line with a resource's name and status."""
    mark = MARKS.get(resource["status"], "✓")
    status = status_text(resource["status"], resource["chunks"], resource["error"])
    return f"{mark} {resource['name']}: {status}"


def status_text(status: str, chunks: int, error: str) -> str:
    """Return the status of a resource in words, with the error if there is one."""
    text = INGESTED[status] + (f", {pluralize(chunks, 'passage')}" if status == "VECTORIZED_SUM_UP" else "")
    return f"{text}. {error}" if error else text


async def _ingest(
    settings: Settings, paths: Sequence[Path], user: str, chat: str, recursive: bool
) -> dict[str, Any]:
    async with open_client(settings) as client:
        with show_progress(visible=sys.stderr.isatty()) as progress:
            stored, errors = await _store(client, settings, paths, user, chat, recursive, progress)
            if stored:
                await save_chat_name(settings, user, chat)
            resources: list[dict[str, Any]] = []
            ids = list(dict.fromkeys(file.resource.id for file in stored))
            async with aclosing(client.ingest(user, chat, ids)) as events:
                async for event in events:
                    if event["type"] == "ingested":
                        resources = event["resources"]
                    else:
                        progress.update(event)
    return {"resources": resources, "repeated": list(_duplicates(stored)), "refused": errors}


def _duplicates(stored: Sequence[StoredFile]) -> Iterator[str]:
    """Yield a message for each file whose content is in an earlier file or already in the chat."""
    seen: set[str] = set()
    for file in stored:
        if file.resource.id in seen or file.name != file.resource.name:
            yield f"{file.path}: same content as {file.resource.name}"
        seen.add(file.resource.id)


async def _store(
    client: Client,
    settings: Settings,
    paths: Sequence[Path],
    user: str,
    chat: str,
    recursive: bool,
    progress: IngestionProgress,
) -> tuple[list[StoredFile], list[str]]:
    """Store files. Return those that were stored, and an error message for each of the others."""
    stored: list[StoredFile] = []
    errors: list[str] = []
    async with aclosing(store_files(client, settings, user, chat, paths, recursive=recursive)) as files:
        async for file in files:
            if isinstance(file, FileRejected):
                errors.append(str(file))
            else:
                stored.append(file)
                progress.add(file.resource)
    return stored, errors
