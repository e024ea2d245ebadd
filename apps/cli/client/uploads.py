"""Files of this machine that are given to a chat: by a command, or with a message."""

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
class Taken:
    """A file that is stored.

    Attributes:
        path: Where it was found.
        name: What it is called there; the chat may have the same content under another name.
        resource: What it is stored as.
    """

    path: Path
    name: str
    resource: Resource


async def take_files(
    session: Client, settings: Settings, user: str, chat: str, paths: Iterable[Path], *, recursive: bool
) -> AsyncGenerator[Taken | FileRejected]:
    """Store and register files, one after the other; the session's process then has them.

    Whoever holds the folder, it is this process that reads the files: what may be read is the caller's own.

    Args:
        session: Whose process ingests them later; it ends an interrupted closing of the chat first.
        settings: Whose folder it is.
        user: Who gives them.
        chat: To which chat.
        paths: Of files, and of folders when `recursive`.
        recursive: Whether the files in a folder are meant.
    """
    await session.show(user, chat)
    services = Services(settings)
    try:
        intake = await open_intake(services)
        for path in paths:
            for given in await asyncio.to_thread(_given, path, settings, recursive):
                if isinstance(given, FileRejected):
                    yield given
                    continue
                try:
                    resource, _ = await asyncio.to_thread(intake.take, user, thread_of(user, chat), given)
                    yield Taken(Path(str(given.source)), given.name, resource)
                except FileRejected as refusal:
                    yield refusal
    finally:
        await services.aclose()


async def with_files(
    session: Client, settings: Settings, user: str, chat: str, text: str, paths: Sequence[Path]
) -> tuple[MessageContent, list[Resource]]:
    """A message with files, as content blocks that name what was stored of them.

    Raises:
        FileRejected: One of the files can't be taken. All are looked at before the first is stored.
    """
    if not paths:
        return text, []
    await asyncio.to_thread(_check, paths, settings)
    taken: list[Resource] = []
    async with aclosing(take_files(session, settings, user, chat, paths, recursive=False)) as files:
        async for file in files:
            if isinstance(file, FileRejected):
                raise file
            taken.append(file.resource)
    blocks = [{"type": "file", "file_id": file.id, "mime_type": file.mime} for file in taken]
    return [{"type": "text", "text": text}, *blocks], taken


def _check(paths: Sequence[Path], settings: Settings) -> None:
    for path in paths:
        for given in _given(path, settings, recursive=False):
            if isinstance(given, FileRejected):
                raise given


def _given(path: Path, settings: Settings, recursive: bool) -> list[Attachment | FileRejected]:
    """What a path stands for; nothing that is stored in the folder of the settings."""
    home = settings.home.resolve()
    try:
        found = list(from_path(path, recursive=recursive))
    except FileRejected as refusal:
        if not recursive and os.path.isdir(path):
            instead = "name a file, or take the folder's with `cognition ingest --recursive`"
            return [FileRejected(f"{str(path)!r} is a folder: {instead}.")]
        return [refusal]
    if path.resolve().is_relative_to(home):
        kept = f"the folder that Cognition keeps itself ({str(home)!r})"
        return [FileRejected(f"{str(path)!r} is inside {kept}: give a copy that is elsewhere.")]
    own = [file for file in found if not Path(str(file.source)).is_relative_to(home)]
    if not own:
        return [FileRejected(f"{str(path)!r} holds no files: name a file, or a folder with files in it.")]
    return [_readable(file, settings.file_bytes) for file in own]


def _readable(file: Attachment, limit: int) -> Attachment | FileRejected:
    """The file, or why it can't be stored as far as that can be told without reading it."""
    try:
        check_size(Path(str(file.source)).stat().st_size, limit)
    except FileRejected as refusal:
        return FileRejected(f"{file.name!r} can't be taken. {refusal}")
    except OSError as error:
        return FileRejected(f"{file.name!r} can't be taken: {error.strerror}.")
    return file
