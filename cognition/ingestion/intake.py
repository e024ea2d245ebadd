"""Taking in what a chat was given: stored, told by its content, registered once."""

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

MOST_FILES: Final = 1_000
"""Of one folder."""

KINDS: Final = {
    "note": Kind("note", "text/plain", "txt"),
    "weburl": Kind("weburl", "text/uri-list", "url"),
}
"""What the caller says and the content can't."""


class Intake:
    """The way into a chat's files and registry. Blocking: call it in a thread.

    Args:
        files: Where the copies go.
        registry: Where they are registered.
        settings: Limits, and where paths may lead.
    """

    def __init__(self, files: Files, registry: ResourceTable, settings: Settings) -> None:
        self._files = files
        self._registry = registry
        self._settings = settings

    @property
    def limit(self) -> int:
        """Bytes of the largest file that is taken."""
        return self._settings.file_bytes

    def take(
        self, user_id: str, chat_id: str, attachment: Attachment, message_id: str = ""
    ) -> tuple[Resource, bool]:
        """Store a file and register it as pending; when this returns, no crash takes it away.

        Args:
            user_id: Whose.
            chat_id: Of which chat.
            attachment: The file.
            message_id: The message that it came with.

        Returns:
            The resource, and whether it is new: the same content is taken once per chat.

        Raises:
            FileRejected: It is too large or can't be read, or the disk is full; nothing is left of it.
            InvalidInput: The user or the chat is blank.
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
            kind = KINDS.get(attachment.resource_type or "") or kind_of(copy)
        except OSError as error:
            msg = f"{attachment.name!r} can't be taken: {error.strerror or error}."
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
            if resource.storage_path != stored.path:  # the disk had lost the first copy
                resource = self._registry.update(user_id, resource.id, storage_path=stored.path) or resource
        except DiskFull as error:
            if self._registry.of_content(user_id, chat_id, stored.sha256) is None:
                self._files.discard(stored)
            msg = f"{attachment.name!r} can't be taken. {error}"
            raise FileRejected(msg) from error
        return resource, new

    def taken(self, user_id: str, chat_id: str, resource_id: str) -> Resource:
        """What this chat has been given already, by its id.

        Raises:
            FileRejected: The chat has no such resource.
        """
        resource = self._registry.get(user_id, resource_id)
        if resource is None or resource.chat_id != chat_id:
            msg = f"Unknown resource {short_repr(resource_id)}: expected an id that `query_registry` shows."
            raise FileRejected(msg)
        return resource

    def receive(self, user_id: str, chat_id: str, item: Item, message_id: str = "") -> list[Received]:
        """Take what an item of the graph's input stands for; what can't be taken says why.

        Args:
            user_id: Whose.
            chat_id: To which chat.
            item: One of `IngestionInput.files`.
            message_id: The message that it came with.

        Raises:
            InvalidInput: The user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        if not isinstance(item, Mapping):  # the input of a run may be any JSON
            msg = f"{short_repr(item)} is no file: give an object such as {{'path': 'report.pdf'}}."
            return [_refused("file", FileRejected(msg))]
        received: list[Received] = []
        try:
            if isinstance(resource_id := item.get("resource_id"), str):
                return [self._again(user_id, chat_id, resource_id)]
            for attachment in self._read(item):
                received.append(self._taken(user_id, chat_id, attachment, message_id))
        except FileRejected as refusal:
            received.append(_refused(str(item.get("name") or item.get("path") or "file"), refusal))
        return received

    def _read(self, item: Item) -> Iterator[Attachment]:
        if isinstance(path := item.get("path"), str):
            yield from from_path(allowed(path, self._settings), recursive=bool(item.get("recursive")))
        else:
            yield read_attachment(item, self.limit)

    def _taken(self, user_id: str, chat_id: str, attachment: Attachment, message_id: str) -> Received:
        try:
            resource, _ = self.take(user_id, chat_id, attachment, message_id)
        except FileRejected as refusal:
            return _refused(attachment.name, refusal)
        return Received(name=attachment.name, resource_id=resource.id, known=resource.settled, error="")

    def _again(self, user_id: str, chat_id: str, resource_id: str) -> Received:
        """What the chat has, to be gone on with, or to leave the prompt."""
        resource = self.taken(user_id, chat_id, resource_id)
        known = resource.settled and resource.status != "PUT_IN_CONTEXT"
        return Received(name=resource.name, resource_id=resource.id, known=known, error="")


async def open_intake(services: Services) -> Intake:
    """Return the intake over the stores of a process."""
    return Intake(services.files, await services.registry(), services.settings)


def from_path(path: Path, *, recursive: bool = False) -> Iterator[Attachment]:
    """The file at a path, or the files of a folder when that is asked for. Blocking.

    What is hidden in a folder, and symlinks that lead out of it, are passed over. Whether the path may be
    read is the caller's question.

    Args:
        path: Of a file or folder.
        recursive: Whether the files of a folder, and of those in it, are meant.

    Raises:
        FileRejected: There is nothing, or a folder that was not asked for, or one with too many files.
    """
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it leads nowhere"
        msg = f"There is no file at {short_repr(str(path))}: {reason}."
        raise FileRejected(msg) from None
    if not real.is_dir():
        yield Attachment(path.name, real)
        return
    if not recursive:
        msg = f"{str(path)!r} is a folder: name a file, or ask for the folder's files with recursive."
        raise FileRejected(msg)
    found = list(_inside(real))
    if len(found) > MOST_FILES:
        msg = f"{str(path)!r} holds more than {MOST_FILES:,} files: name a folder inside it."
        raise FileRejected(msg)
    for file in found:
        yield Attachment(file.name, file)


def allowed(given: str, settings: Settings) -> Path:
    """The real place of a path that a caller of the graph gave.

    Raises:
        FileRejected: It leads out of the allowed folders, or into what is stored here.
    """
    try:
        real = Path(given).expanduser().resolve()
        roots = [root.expanduser().resolve() for root in settings.file_roots]
        home = settings.home.resolve()
    except (OSError, RuntimeError, ValueError):
        msg = f"{short_repr(given)} is no path: give one of a file, or its contents as data."
        raise FileRejected(msg) from None
    if real.is_relative_to(home) or not any(real.is_relative_to(root) for root in roots):
        named = ", ".join(map(repr, map(str, settings.file_roots))) or "none"
        msg = (
            f"{short_repr(given)} is not in a folder that paths may lead to (COGNITION_FILE_ROOTS: {named}). "
            "Give the file's contents as data, or use `cognition ingest`."
        )
        raise FileRejected(msg)
    return real


def _inside(folder: Path) -> Iterator[Path]:
    """The files in a folder in the order of their names, one more than are taken at most."""
    count = 0
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in files if not name.startswith(".")):
            real = (Path(at) / name).resolve()
            if real.is_relative_to(folder) and real.is_file():
                yield real
                count += 1
                if count > MOST_FILES:
                    return


def _refused(name: str, refusal: FileRejected) -> Received:
    return Received(name=clean_name(name), resource_id="", known=False, error=str(refusal))
