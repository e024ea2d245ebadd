"""Files of this machine that are given to a chat: by a command, or with a message."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path

from cognition.cli.session import Content, Session, thread_of
from cognition.ingestion.attachments import Attachment
from cognition.ingestion.intake import from_path
from cognition.services import Services
from cognition.settings import Settings
from cognition.storage.files import NotTaken
from cognition.storage.registry import Resource


async def take_files(
    session: Session, settings: Settings, user: str, chat: str, paths: Iterable[Path], *, recursive: bool
) -> AsyncGenerator[Resource | NotTaken]:
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
        intake = await services.intake()
        for path in paths:
            for given in await asyncio.to_thread(_given, path, settings, recursive):
                if isinstance(given, NotTaken):
                    yield given
                    continue
                try:
                    resource, _ = await asyncio.to_thread(intake.take, user, thread_of(chat), given)
                    yield resource
                except NotTaken as refusal:
                    yield refusal
    finally:
        await services.aclose()


async def with_files(
    session: Session, settings: Settings, user: str, chat: str, text: str, paths: Sequence[Path]
) -> tuple[Content, list[Resource]]:
    """A message with files, as content blocks that name what was stored of them.

    Raises:
        NotTaken: One of the files can't be taken.
    """
    if not paths:
        return text, []
    taken: list[Resource] = []
    async with aclosing(take_files(session, settings, user, chat, paths, recursive=False)) as files:
        async for file in files:
            if isinstance(file, NotTaken):
                raise file
            taken.append(file)
    blocks = [{"type": "file", "file_id": file.id, "mime_type": file.mime} for file in taken]
    return [{"type": "text", "text": text}, *blocks], taken


def _given(path: Path, settings: Settings, recursive: bool) -> list[Attachment | NotTaken]:
    """What a path stands for; nothing that is stored in the folder of the settings."""
    return list(_found(path, settings.home.resolve(), recursive))


def _found(path: Path, home: Path, recursive: bool) -> Iterator[Attachment | NotTaken]:
    try:
        for attachment in from_path(path, recursive=recursive):
            if not isinstance(attachment.source, Path) or not attachment.source.is_relative_to(home):
                yield attachment
    except NotTaken as refusal:
        yield refusal
