"""The files of chats: each chat keeps its own copies, so purging one chat leaves the others intact."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, Final

from cognition.errors import InvalidInput
from cognition.identity import check_chat
from cognition.storage.disk.safe_names import folder_name
from cognition.storage.resources import Resource

COPY_BYTES: Final = 1 << 20
"""Bytes to copy at a time."""

STALE_SECONDS: Final = 3_600
"""Seconds without a write after which an unfinished copy is considered abandoned by a dead process."""

OPEN_FLAGS: Final = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
"""Flags for opening a source, as far as the platform has them. Without them, a pipe would block until it has
a writer, and a symlink could be swapped in for the file."""


class FileRejected(InvalidInput):
    """A file that cannot be stored. The message says why and what to do."""


@dataclass(frozen=True)
class Stored:
    """A copy that has been synced to disk.

    Attributes:
        path: Its path, relative to the home folder.
        size: Its size in bytes.
        sha256: The hash of its content.
    """

    path: str
    size: int
    sha256: str


class Files:
    """The files of all chats, stored by content: a chat keeps one copy of identical files. Blocking.

    Args:
        home: The home folder.
    """

    def __init__(self, home: Path) -> None:
        self._home = home

    def store(self, user_id: str, chat_id: str, source: Path | bytes, *, name: str, limit: int) -> Stored:
        """Copy content into the chat's files. Once this returns, the copy survives a crash.

        Args:
            user_id: The user.
            chat_id: The chat.
            source: The content, or the path of a regular file with all symlinks resolved.
            name: Plain file name for the copy; ignored if the chat already has this content.
            limit: Maximum size in bytes.

        Raises:
            FileRejected: If the source is larger than the limit or is not a regular file.
            OSError: If the source cannot be read or the disk is full; the incomplete copy is removed.
        """
        chat = self._chat_folder(user_id, chat_id)
        incoming = chat / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        _remove_stale(incoming)
        handle, temporary = tempfile.mkstemp(dir=incoming)
        try:
            with os.fdopen(handle, "wb") as copy, _open(source) as original:
                digest, size = _copy(original, copy, limit)
                copy.flush()
                os.fsync(copy.fileno())
            folder = chat / digest / "original"
            folder.mkdir(parents=True, exist_ok=True)
            stored = next(folder.iterdir(), None)
            if stored is None:
                stored = folder / name
                os.replace(temporary, stored)
                for parent in (folder, *list(folder.parents)[:5]):
                    _sync(parent)
        finally:
            Path(temporary).unlink(missing_ok=True)
        return Stored(str(stored.relative_to(self._home)), size, digest)

    def original(self, resource: Resource) -> Path:
        """Return the path of a resource's copy."""
        return self._home / resource.storage_path

    def text(self, resource: Resource) -> Path:
        """Return the path of a resource's text. The file may not exist; if it does, it is complete."""
        return self._resource_folder(resource) / "text.md"

    @contextmanager
    def writing_text(self, resource: Resource) -> Iterator[Path]:
        """Yield a temporary file that becomes the resource's text if the block ends without an error.

        Raises:
            OSError: If the disk is full or the chat was purged in the meantime.
        """
        text = self.text(resource)
        handle, temporary = tempfile.mkstemp(dir=text.parent, prefix=".text-")
        os.close(handle)
        try:
            yield Path(temporary)
            _sync(Path(temporary))
            os.replace(temporary, text)
            _sync(text.parent)
        finally:
            Path(temporary).unlink(missing_ok=True)

    def delete(self, resource: Resource) -> None:
        """Delete the copy of a resource and its text."""
        shutil.rmtree(self._resource_folder(resource), ignore_errors=True)

    def discard(self, stored: Stored) -> None:
        """Delete a copy that could not be registered."""
        shutil.rmtree((self._home / stored.path).parent.parent, ignore_errors=True)

    def purge(self, user_id: str, chat_id: str) -> None:
        """Delete all files of a chat. After an interruption, the next call deletes the rest."""
        shutil.rmtree(self._chat_folder(user_id, chat_id), ignore_errors=True)

    def _resource_folder(self, resource: Resource) -> Path:
        return self.original(resource).parent.parent

    def _chat_folder(self, user_id: str, chat_id: str) -> Path:
        check_chat(user_id, chat_id)
        return self._home / "files" / folder_name(user_id) / folder_name(chat_id)


@contextmanager
def _open(source: Path | bytes) -> Iterator[BinaryIO]:
    if isinstance(source, bytes):
        yield BytesIO(source)
        return
    handle = os.open(source, os.O_RDONLY | OPEN_FLAGS)
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            msg = f"{source.name!r} is not a regular file. Give the path of a regular file."
            raise FileRejected(msg)
        yield file


def _copy(original: BinaryIO, copy: BinaryIO, limit: int) -> tuple[str, int]:
    digest, size = sha256(), 0
    while data := original.read(COPY_BYTES):
        size += len(data)
        check_size(size, limit)
        digest.update(data)
        copy.write(data)
    return digest.hexdigest(), size


def check_size(size: int, limit: int) -> None:
    """Check that a file is not too large.

    Raises:
        FileRejected: If the size exceeds the limit.
    """
    if size > limit:
        msg = (
            f"The file is larger than {limit / (1 << 20):,.0f} MiB. Split it, or raise COGNITION_FILE_BYTES "
            f"(now {limit:,})."
        )
        raise FileRejected(msg)


def _remove_stale(incoming: Path) -> None:
    """Remove unfinished copies that dead processes left behind."""
    for copy in incoming.iterdir():
        try:
            if time.time() - copy.stat().st_mtime > STALE_SECONDS:
                copy.unlink()
        except FileNotFoundError:
            continue  # another process finished or removed it


def _sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot open folders; NTFS journals their entries itself
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
