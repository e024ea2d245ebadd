"""The SQLite file of a folder that says what exists: resources, sources, threads of agents."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from cognition.storage.disk.free_space import DiskFull
from cognition.storage.sqlite.migrations import MIGRATIONS

FILE = "cognition.sqlite"
BUSY_SECONDS = 30
"""How long a writer waits for another process's transaction."""


class Database:
    """One connection for the whole process, behind a lock. Blocking: call it in a thread.

    Args:
        home: The folder; made if it isn't there.
    """

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        self._lock = RLock()
        self._connection = sqlite3.connect(
            home / FILE, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None
        )
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._migrate()

    def rows(self, sql: str, values: Sequence[object] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """The rows that a statement gives; outside of `transaction` it stands for itself.

        Half a character in a value is kept, and looked for, as a question mark: SQLite takes UTF-8 only.

        Raises:
            DiskFull: There is no room for it.
        """
        whole: Sequence[object] | dict[str, Any]
        if isinstance(values, dict):
            whole = {name: _whole(value) for name, value in values.items()}
        else:
            whole = [_whole(value) for value in values]
        with self._lock, self._room():
            return self._connection.execute(sql, whole).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the statements of this thread in the block, or none.

        Raises:
            DiskFull: There is no room for them.
        """
        with self._lock, self._room():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # on a full disk SQLite has ended it itself
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file; safe to call again."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Say of a full disk where it is, and what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                raise
            msg = (
                f"The disk of {str(self._home)!r} is full: make some room and try again. Nothing was changed."
            )
            raise DiskFull(msg) from error

    def _migrate(self) -> None:
        """Bring the tables to the newest form; SQLite's `user_version` counts the steps that were taken."""
        with self.transaction():
            taken = self._connection.execute("PRAGMA user_version").fetchone()[0]
            for statement in MIGRATIONS[taken:]:
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def _whole(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
