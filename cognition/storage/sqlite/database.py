"""The SQLite database of the home folder: resources, sources, sub-agent threads, chats and closures."""

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
"""Seconds to wait for another process's transaction before a write fails."""


class Database:
    """One connection for the whole process, guarded by a lock. Blocking: call it from a worker thread.

    Args:
        home: The home folder; created if missing.
    """

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        self._lock = RLock()
        self._connection = sqlite3.connect(
            home / FILE, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None
        )
        self._connection.row_factory = sqlite3.Row
        try:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def rows(self, sql: str, values: Sequence[object] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """Execute a statement and return its rows. Outside `transaction`, the statement commits by itself.

        Lone surrogates in values become question marks, because SQLite accepts valid UTF-8 only.

        Raises:
            DiskFull: If the disk is full.
        """
        encodable: Sequence[object] | dict[str, Any]
        if isinstance(values, dict):
            encodable = {name: _encodable(value) for name, value in values.items()}
        else:
            encodable = [_encodable(value) for value in values]
        with self._lock, self._raising_disk_full():
            return self._connection.execute(sql, encodable).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction; other threads wait until it ends.

        Raises:
            DiskFull: If the disk is full.
        """
        with self._lock, self._raising_disk_full():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # on a full disk, SQLite may have rolled back itself
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connection. Safe to call more than once."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _raising_disk_full(self) -> Iterator[None]:
        """Translate SQLite's error for a full disk into `DiskFull`."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                raise
            msg = (
                f"No disk space left for {str(self._home)!r}. Free some space and try again; "
                "nothing was changed."
            )
            raise DiskFull(msg) from error

    def _migrate(self) -> None:
        """Migrate the tables to the latest schema; `user_version` counts the migrations already applied."""
        with self.transaction():
            applied = self._connection.execute("PRAGMA user_version").fetchone()[0]
            for statement in MIGRATIONS[applied:]:
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def _encodable(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
