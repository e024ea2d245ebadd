"""The folder that holds everything stored, and who holds it: one process at a time opens its vectors."""

import json
import os
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path
from typing import Self

from cognition.errors import Unavailable

LOCK_FILE = "lock"


@dataclass(frozen=True)
class Holder:
    """The process that holds a folder."""

    pid: int
    url: str
    """Where its HTTP API answers; empty for a program that serves none."""


class FolderInUse(Unavailable):
    """Another process holds the folder."""

    def __init__(self, home: Path, holder: Holder) -> None:
        where = f", which serves {holder.url}" if holder.url else ""
        way = "use that server, end it," if holder.url else "end it, as /quit ends a chat,"
        super().__init__(
            f"The folder {str(home)!r} is in use by process {holder.pid}{where}. One process at a time "
            f"holds a folder: {way} or set COGNITION_HOME to another one."
        )
        self.holder = holder


class FolderLock:
    """An exclusive lock on a folder; the system releases it when the process ends, however it ends.

    Args:
        home: The folder; made if it isn't there.
        url: Where this process's HTTP API answers, for those that come second.

    Raises:
        FolderInUse: Another process, or another lock of this one, holds it.
    """

    def __init__(self, home: Path, url: str = "") -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._file = os.open(home / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise FolderInUse(home, read_holder(home)) from None
        try:
            self.announce(url)
        except OSError:
            os.close(self._file)  # a full disk: who can't say that it holds the folder doesn't
            raise

    def announce(self, url: str) -> None:
        """Write who holds the folder."""
        text = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text, 0)

    def release(self) -> None:
        """Let the next one in."""
        os.ftruncate(self._file, 0)
        flock(self._file, LOCK_UN)
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder_of(home: Path) -> Holder | None:
    """Who holds a folder now; None when it is free."""
    try:
        FolderLock(home).release()
    except FolderInUse as taken:
        return taken.holder
    return None


def read_holder(home: Path) -> Holder:
    """What the lock file says; pid 0 while its holder is still writing it."""
    try:
        told = json.loads((home / LOCK_FILE).read_bytes())
        return Holder(int(told["pid"]), str(told["url"]))
    except (ValueError, TypeError, KeyError):
        return Holder(0, "")
