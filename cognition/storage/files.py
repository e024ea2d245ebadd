"""The copies of what chats were given: each chat has its own, and its purge takes no other's."""

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
from cognition.storage.disk.safe_names import folder_of_user
from cognition.storage.resources import Resource

PIECE: Final = 1 << 20
"""Bytes that are copied at once."""

LEFT_SECONDS: Final = 3_600
"""A copy that nothing was added to for so long was left by a process that is no more."""

OPEN_FLAGS: Final = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
"""Those that the platform has: a pipe would wait for its writer, and a symlink could replace the file."""


class FileRejected(InvalidInput):
    """A file that can't be taken; says why and what to do."""


@dataclass(frozen=True)
class Stored:
    """A copy that is safe on the disk.

    Attributes:
        path: Where it is, relative to the folder that holds everything stored.
        size: Its bytes.
        sha256: Of its content.
    """

    path: str
    size: int
    sha256: str


class Files:
    """The files of every chat, by content: what a chat was given twice is there once. Blocking.

    Args:
        home: The folder that holds everything stored.
    """

    def __init__(self, home: Path) -> None:
        self._home = home

    def store(self, user_id: str, chat_id: str, source: Path | bytes, *, name: str, limit: int) -> Stored:
        """Copy a content to the chat's files; when this returns, no crash takes it away.

        Args:
            user_id: Whose chat.
            chat_id: Which chat.
            source: The content, or a regular file with every symlink resolved.
            name: What the copy is called, if the chat has no other of this content; a plain file name.
            limit: The most bytes that are taken.

        Raises:
            FileRejected: It is longer than the limit, or no regular file.
            OSError: It can't be read, or the disk is full; nothing is left of it.
        """
        chat = self._chat(user_id, chat_id)
        incoming = chat / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        _sweep(incoming)
        handle, begun = tempfile.mkstemp(dir=incoming)
        try:
            with os.fdopen(handle, "wb") as copy, _opened(source) as given:
                digest, size = _copy(given, copy, limit)
                copy.flush()
                os.fsync(copy.fileno())
            place = chat / digest / "original"
            place.mkdir(parents=True, exist_ok=True)
            kept = next(place.iterdir(), None)
            if kept is None:
                kept = place / name
                os.replace(begun, kept)
                for folder in (place, *list(place.parents)[:5]):
                    _sync(folder)
        finally:
            Path(begun).unlink(missing_ok=True)
        return Stored(str(kept.relative_to(self._home)), size, digest)

    def original(self, resource: Resource) -> Path:
        """Where the copy of a resource is."""
        return self._home / resource.storage_path

    def text(self, resource: Resource) -> Path:
        """Where the text of a resource is, or would be; it is whole when it is there."""
        return self._place(resource) / "text.md"

    @contextmanager
    def writing_text(self, resource: Resource) -> Iterator[Path]:
        """A place to write a resource's text to; it becomes the text when the block ends without an error.

        Raises:
            OSError: The disk is full, or the chat was purged meanwhile.
        """
        place = self.text(resource)
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=".text-")
        os.close(handle)
        try:
            yield Path(name)
            _sync(Path(name))
            os.replace(name, place)
            _sync(place.parent)
        finally:
            Path(name).unlink(missing_ok=True)

    def delete(self, resource: Resource) -> None:
        """Delete the copy of a resource and its text."""
        shutil.rmtree(self._place(resource), ignore_errors=True)

    def discard(self, stored: Stored) -> None:
        """Delete a copy that could not be registered."""
        shutil.rmtree((self._home / stored.path).parent.parent, ignore_errors=True)

    def purge(self, user_id: str, chat_id: str) -> None:
        """Delete all files of a chat; what was begun and interrupted is finished by the next call."""
        shutil.rmtree(self._chat(user_id, chat_id), ignore_errors=True)

    def _place(self, resource: Resource) -> Path:
        return self.original(resource).parent.parent

    def _chat(self, user_id: str, chat_id: str) -> Path:
        check_chat(user_id, chat_id)
        return self._home / "files" / folder_of_user(user_id) / folder_of_user(chat_id)


@contextmanager
def _opened(source: Path | bytes) -> Iterator[BinaryIO]:
    if isinstance(source, bytes):
        yield BytesIO(source)
        return
    handle = os.open(source, os.O_RDONLY | OPEN_FLAGS)
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            msg = f"{source.name!r} is no regular file: give one."
            raise FileRejected(msg)
        yield file


def _copy(given: BinaryIO, copy: BinaryIO, limit: int) -> tuple[str, int]:
    digest, size = sha256(), 0
    while piece := given.read(PIECE):
        size += len(piece)
        check_size(size, limit)
        digest.update(piece)
        copy.write(piece)
    return digest.hexdigest(), size


def check_size(size: int, limit: int) -> None:
    """Refuse what is too large.

    Raises:
        FileRejected: It is longer than the limit.
    """
    if size > limit:
        msg = (
            f"It is larger than {limit / PIECE:,.0f} MiB: split it, or raise COGNITION_FILE_BYTES "
            f"(now {limit:,})."
        )
        raise FileRejected(msg)


def _sweep(incoming: Path) -> None:
    """Remove the unfinished copies of processes that are no more."""
    for left in incoming.iterdir():
        try:
            if time.time() - left.stat().st_mtime > LEFT_SECONDS:
                left.unlink()
        except FileNotFoundError:
            continue  # finished by whoever was at it


def _sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders, and journals their entries itself
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
