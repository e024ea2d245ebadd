"""Local files that a command or a message adds to a chat."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from apps.cli.client.chat_ids import thread_of
from apps.cli.client.client import Client
from apps.cli.client.events import MessageContent
from cognition.ingestion.attachments import Attachment
from cognition.ingestion.intake import from_path, open_intake
from cognition.services import Services
from cognition.settings import Settings
from cognition.storage.files import FileRejected, check_size
from cognition.storage.resources import Resource


@dataclass(frozen=True)
class StoredFile:
    """A file that has been stored.

    Attributes:
        path: The path it was read from.
        name: Its name at that path. The chat may already have the same content under another name.
        resource: The resource it is stored as.
    """

    path: Path
    name: str
    resource: Resource


async def store_files(
    client: Client, settings: Settings, user: str, chat: str, paths: Iterable[Path], *, recursive: bool
) -> AsyncGenerator[StoredFile | FileRejected]:
    """Store and register files one by one, so that the client's process can ingest them.

    The files are always read by the current process, with the permissions of the caller.

    Args:
        client: The client that will ingest the files. It completes an interrupted closure of the chat first.
        settings: The settings with the home folder.
        user: The user.
        chat: The chat.
        paths: The paths of files, and of folders if `recursive`.
        recursive: Whether to include the files in folders.
    """
    await client.show(user, chat)
    services = Services(settings)
    try:
        intake = await open_intake(services)
        for path in paths:
            for item in await asyncio.to_thread(_attachments, path, settings, recursive):
                if isinstance(item, FileRejected):
                    yield item
                    continue
                try:
                    resource, _ = await asyncio.to_thread(intake.take, user, thread_of(user, chat), item)
                    yield StoredFile(Path(str(item.source)), item.name, resource)
                except FileRejected as error:
                    yield error
    finally:
        await services.aclose()


async def attach_files(
    client: Client, settings: Settings, user: str, chat: str, text: str, paths: Sequence[Path]
) -> tuple[MessageContent, list[Resource]]:
    """Store files; return the content of a message that refers to them, and their resources.

    Raises:
        FileRejected: If a file can't be stored. All files are checked before the first one is stored.
    """
    if not paths:
        return text, []
    await asyncio.to_thread(_check, paths, settings)
    resources: list[Resource] = []
    async with aclosing(store_files(client, settings, user, chat, paths, recursive=False)) as files:
        async for file in files:
            if isinstance(file, FileRejected):
                raise file
            resources.append(file.resource)
    blocks = [{"type": "file", "file_id": file.id, "mime_type": file.mime} for file in resources]
    return [{"type": "text", "text": text}, *blocks], resources


def _check(paths: Sequence[Path], settings: Settings) -> None:
    for path in paths:
        for item in _attachments(path, settings, recursive=False):
            if isinstance(item, FileRejected):
                raise item


def _attachments(path: Path, settings: Settings, recursive: bool) -> list[Attachment | FileRejected]:
    """Return the files at a path, without those inside the home folder."""
    home = settings.home.resolve()
    try:
        attachments = list(from_path(path, recursive=recursive))
    except FileRejected as error:
        if not recursive and os.path.isdir(path):
            advice = "Give a file, or add all files of the folder with `cognition ingest --recursive`."
            return [FileRejected(f"{str(path)!r} is a folder. {advice}")]
        return [error]
    if path.resolve().is_relative_to(home):
        msg = f"{str(path)!r} is inside the home folder ({str(home)!r}). Give a copy that is outside of it."
        return [FileRejected(msg)]
    outside = [file for file in attachments if not Path(str(file.source)).is_relative_to(home)]
    if not outside:
        msg = f"{str(path)!r} contains no files. Give a file, or a folder that contains files."
        return [FileRejected(msg)]
    return [_readable(file, settings.file_bytes) for file in outside]


def _readable(file: Attachment, limit: int) -> Attachment | FileRejected:
    """Return the file, or an error if it is too large or can't be accessed."""
    try:
        check_size(Path(str(file.source)).stat().st_size, limit)
    except FileRejected as error:
        return FileRejected(f"Could not store {file.name!r}. {error}")
    except OSError as error:
        return FileRejected(f"Could not store {file.name!r}: {error.strerror}.")
    return file
