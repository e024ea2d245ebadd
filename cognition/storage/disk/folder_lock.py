"""The lock on the home folder: one process at a time opens its vectors."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import portalocker
from portalocker import LockFlags

from cognition.errors import Unavailable
from cognition.storage.disk.atomic import write_atomically

LOCK_FILE: Final = "lock"
HOLDER_FILE: Final = "holder.json"
"""A file of its own: Windows keeps other processes from reading a locked one."""


@dataclass(frozen=True)
class Holder:
    """The process that holds a folder."""

    pid: int
    url: str
    """The URL of its HTTP API; empty for a program that serves none."""


class FolderInUse(Unavailable):
    """Another process holds the folder."""

    def __init__(self, home: Path, holder: Holder) -> None:
        server = f" (serving {holder.url})" if holder.url else ""
        remedy = "Use that server, stop it," if holder.url else "Stop it (`/quit` ends a chat)"
        super().__init__(
            f"The folder {str(home)!r} is in use by process {holder.pid}{server}. {remedy} "
            "or set COGNITION_HOME to another folder."
        )
        self.holder = holder


class FolderLock:
    """An exclusive lock on a folder; the system releases it when the process ends, however it ends.

    Args:
        home: The folder; created if missing.
        url: The URL of this process's HTTP API, for processes that come second.

    Raises:
        FolderInUse: Another process, or another lock of this one, holds it.
    """

    def __init__(self, home: Path, url: str = "") -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        self._file = os.fdopen(os.open(home / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        try:
            portalocker.lock(self._file, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
        except portalocker.AlreadyLocked:
            self._file.close()
            raise FolderInUse(home, read_holder(home)) from None
        try:
            write_atomically(home / HOLDER_FILE, json.dumps({"pid": os.getpid(), "url": url}).encode())
        except OSError:
            self._file.close()  # the disk is full: a process that can't say so must not hold the folder
            raise

    def release(self) -> None:
        """Let the next process in."""
        (self._home / HOLDER_FILE).unlink(missing_ok=True)
        portalocker.unlock(self._file)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder_of(home: Path) -> Holder | None:
    """Return the process that holds a folder; None when it is free."""
    try:
        FolderLock(home).release()
    except FolderInUse as taken:
        return taken.holder
    return None


def read_holder(home: Path) -> Holder:
    """Read who holds a folder; the pid is 0 while its holder is still writing that."""
    try:
        payload = json.loads((home / HOLDER_FILE).read_bytes())
        return Holder(int(payload["pid"]), str(payload["url"]))
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return Holder(0, "")
