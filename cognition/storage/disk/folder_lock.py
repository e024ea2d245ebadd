"""The lock on the home folder: only one process at a time can open its vectors."""

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
"""A file separate from the lock, because Windows prevents other processes from reading a locked file."""


@dataclass(frozen=True)
class Holder:
    """The process that holds the lock on a home folder."""

    pid: int
    url: str
    """The URL of its HTTP API; empty if it is not a server."""


class FolderInUse(Unavailable):
    """The home folder is locked by another process."""

    def __init__(self, home: Path, holder: Holder) -> None:
        server = f" (serving {holder.url})" if holder.url else ""
        remedy = "Use that server, stop it," if holder.url else "Stop it (`/quit` ends a chat)"
        super().__init__(
            f"The home folder {str(home)!r} is in use by process {holder.pid}{server}. {remedy} "
            "or set COGNITION_HOME to another folder."
        )
        self.holder = holder


class FolderLock:
    """An exclusive lock on a home folder. The operating system releases it when the process exits or dies.

    Args:
        home: The home folder; created if missing.
        url: The URL of this process's HTTP API, shown to processes that find the folder locked.

    Raises:
        FolderInUse: If the folder is locked by another process or by another `FolderLock` of this one.
    """

    def __init__(self, home: Path, url: str = "") -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        self._file = os.fdopen(os.open(home / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        try:
            portalocker.lock(self._file, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
            write_atomically(home / HOLDER_FILE, json.dumps({"pid": os.getpid(), "url": url}).encode())
        except portalocker.AlreadyLocked:
            self._file.close()
            raise FolderInUse(home, read_holder(home)) from None
        except BaseException:
            self._file.close()  # the disk may be full; do not keep a lock without holder information
            raise

    def release(self) -> None:
        """Release the lock."""
        (self._home / HOLDER_FILE).unlink(missing_ok=True)
        portalocker.unlock(self._file)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder_of(home: Path) -> Holder | None:
    """Return the process that holds the lock on a home folder, or None if the folder is free."""
    try:
        FolderLock(home).release()
    except FolderInUse as error:
        return error.holder
    return None


def read_holder(home: Path) -> Holder:
    """Return the holder recorded in a home folder. The pid is 0 until the holder has written its own."""
    try:
        payload = json.loads((home / HOLDER_FILE).read_bytes())
        return Holder(int(payload["pid"]), str(payload["url"]))
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return Holder(0, "")
