"""The intake of a chat's files: store each file, detect its type and register it."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from reprlib import repr as short_repr
from typing import Final

from cognition.documents.file_type import Kind, kind_of
from cognition.identity import check_chat
from cognition.ingestion.attachments import Attachment, Item, clean_name, read_attachment
from cognition.services import Services
from cognition.settings import Settings
from cognition.state.ingestion import Received
from cognition.storage.disk.free_space import DiskFull
from cognition.storage.files import FileRejected, Files
from cognition.storage.resources import Resource, ResourceTable

MAX_FILES: Final = 1_000
"""Maximum number of files to add from one folder."""

DECLARED_KINDS: Final = {
    "note": Kind("note", "text/plain", "txt"),
    "weburl": Kind("weburl", "text/uri-list", "url"),
}
"""Kinds that the caller declares because they cannot be detected from the content."""


class Intake:
    """The intake of files into a chat's storage and registry. Blocking: call it from a worker thread.

    Args:
        files: The storage of the copies.
        registry: The registry of resources.
        settings: The size limit and the allowed folders.
    """

    def __init__(self, files: Files, registry: ResourceTable, settings: Settings) -> None:
        self._files = files
        self._registry = registry
        self._settings = settings

    @property
    def limit(self) -> int:
        """The maximum file size in bytes."""
        return self._settings.file_bytes

    def take(
        self, user_id: str, chat_id: str, attachment: Attachment, message_id: str = ""
    ) -> tuple[Resource, bool]:
        """Store a file and register it as pending. Once this returns, the file survives a crash.

        Args:
            user_id: The user.
            chat_id: The chat.
            attachment: The file.
            message_id: The message the file is attached to; empty if none.

        Returns:
            The resource, and True if it is new; a chat stores the same content only once.

        Raises:
            FileRejected: If the file is too large or unreadable, or the disk is full; no copy is left behind.
            InvalidInput: If the user or the chat is blank.
        """
        try:
            stored = self._files.store(
                user_id,
                chat_id,
                attachment.source,
                name=attachment.name,
                limit=self.limit,
            )
            copy = self._settings.home / stored.path
            kind = DECLARED_KINDS.get(attachment.resource_type or "") or kind_of(copy)
        except OSError as error:
            msg = f"Could not store {attachment.name!r}: {error.strerror or error}."
            raise FileRejected(msg) from error
        try:
            resource, new = self._registry.add(
                user_id,
                chat_id,
                name=attachment.name,
                resource_type=kind.resource_type,
                mime=kind.mime,
                size=stored.size,
                sha256=stored.sha256,
                storage_path=stored.path,
                message_id=message_id,
            )
            if resource.storage_path != stored.path:  # the first copy was lost from disk
                resource = self._registry.update(user_id, resource.id, storage_path=stored.path) or resource
        except DiskFull as error:
            if self._registry.of_content(user_id, chat_id, stored.sha256) is None:
                self._files.discard(stored)
            msg = f"Could not store {attachment.name!r}. {error}"
            raise FileRejected(msg) from error
        return resource, new

    def existing(self, user_id: str, chat_id: str, resource_id: str) -> Resource:
        """Return a resource that the chat already has.

        Raises:
            FileRejected: If the chat has no resource with this id.
        """
        resource = self._registry.get(user_id, resource_id)
        if resource is None or resource.chat_id != chat_id:
            msg = f"Unknown resource {short_repr(resource_id)}: expected an id that `query_registry` shows."
            raise FileRejected(msg)
        return resource

    def receive(self, user_id: str, chat_id: str, item: Item, message_id: str = "") -> list[Received]:
        """Take the files of one item of the graph's input. A rejected file gets a result with the error.

        Args:
            user_id: The user.
            chat_id: The chat.
            item: One of `IngestionInput.files`.
            message_id: The message the files are attached to; empty if none.

        Raises:
            InvalidInput: If the user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        if not isinstance(item, Mapping):  # the input of a run can be any JSON
            msg = f"Invalid file {short_repr(item)}: expected an object such as {{'path': 'report.pdf'}}."
            return [_rejected("file", FileRejected(msg))]
        received: list[Received] = []
        try:
            if isinstance(resource_id := item.get("resource_id"), str):
                return [self._receive_existing(user_id, chat_id, resource_id)]
            for attachment in self._read(item):
                received.append(self._receive_new(user_id, chat_id, attachment, message_id))
        except FileRejected as error:
            received.append(_rejected(str(item.get("name") or item.get("path") or "file"), error))
        return received

    def _read(self, item: Item) -> Iterator[Attachment]:
        if isinstance(path := item.get("path"), str):
            yield from from_path(resolve_path(path, self._settings), recursive=bool(item.get("recursive")))
        else:
            yield read_attachment(item, self.limit)

    def _receive_new(self, user_id: str, chat_id: str, attachment: Attachment, message_id: str) -> Received:
        try:
            resource, _ = self.take(user_id, chat_id, attachment, message_id)
        except FileRejected as error:
            return _rejected(attachment.name, error)
        return Received(name=attachment.name, resource_id=resource.id, known=resource.settled, error="")

    def _receive_existing(self, user_id: str, chat_id: str, resource_id: str) -> Received:
        resource = self.existing(user_id, chat_id, resource_id)
        # A resource in the prompt is routed again: the context may have become too full for it.
        known = resource.settled and resource.status != "PUT_IN_CONTEXT"
        return Received(name=resource.name, resource_id=resource.id, known=known, error="")


async def open_intake(services: Services) -> Intake:
    """Return an intake that uses the stores of a process."""
    return Intake(services.files, await services.registry(), services.settings)


def from_path(path: Path, *, recursive: bool = False) -> Iterator[Attachment]:
    """Yield the file at a path, or all files of a folder and its subfolders. Blocking.

    In folders, hidden files and symlinks that lead outside are skipped. The caller must check that the path
    is allowed.

    Args:
        path: A file or folder.
        recursive: True to accept a folder.

    Raises:
        FileRejected: If the path does not exist, is a folder without `recursive`, or has too many files.
    """
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path cannot be resolved"
        msg = f"There is no file at {short_repr(str(path))}: {reason}."
        raise FileRejected(msg) from None
    if not real.is_dir():
        yield Attachment(path.name, real)
        return
    if not recursive:
        msg = f"{str(path)!r} is a folder. Give a file, or set recursive to add all files of the folder."
        raise FileRejected(msg)
    files = list(_files_in(real))
    if len(files) > MAX_FILES:
        msg = f"{str(path)!r} contains more than {MAX_FILES:,} files. Give one of its subfolders."
        raise FileRejected(msg)
    for file in files:
        yield Attachment(file.name, file)


def resolve_path(path: str, settings: Settings) -> Path:
    """Resolve a path from the input of a graph and check that it is allowed.

    Raises:
        FileRejected: If the path is outside the allowed folders or inside the home folder.
    """
    try:
        real = Path(path).expanduser().resolve()
        roots = [root.expanduser().resolve() for root in settings.file_roots]
        home = settings.home.resolve()
    except (OSError, RuntimeError, ValueError):
        msg = f"Invalid path {short_repr(path)}: give the path of a file, or its content as data."
        raise FileRejected(msg) from None
    if real.is_relative_to(home) or not any(real.is_relative_to(root) for root in roots):
        root_names = ", ".join(map(repr, map(str, settings.file_roots))) or "none"
        msg = (
            f"{short_repr(path)} is not in an allowed folder (COGNITION_FILE_ROOTS: {root_names}). "
            "Give the file's content as data, or use `cognition ingest`."
        )
        raise FileRejected(msg)
    return real


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder in name order; stop after `MAX_FILES` + 1."""
    count = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in files if not name.startswith(".")):
            real = (Path(parent) / name).resolve()
            if real.is_relative_to(folder) and real.is_file():
                yield real
                count += 1
                if count > MAX_FILES:
                    return


def _rejected(name: str, error: FileRejected) -> Received:
    return Received(name=clean_name(name), resource_id="", known=False, error=str(error))
