"""The database on a full disk."""

from pathlib import Path

import pytest

from cognition.storage.disk.free_space import DiskFull
from cognition.storage.sqlite.database import Database


def replace_all(database: Database, *, ended_by_sqlite: bool) -> None:
    """Replace the notes with more data than fits."""
    with database.transaction():
        database.rows("DELETE FROM notes")
        if ended_by_sqlite:
            database.rows("ROLLBACK")  # SQLite does this itself on some disk errors
        for _ in range(90):
            database.rows("INSERT INTO notes VALUES (?)", ("x" * 9_000,))


@pytest.mark.parametrize("ended_by_sqlite", [False, True])
def test_a_full_disk_says_so_and_leaves_all_as_it_was(tmp_path: Path, ended_by_sqlite: bool) -> None:
    database = Database(tmp_path)
    database.rows("CREATE TABLE notes (text TEXT)")
    database.rows("INSERT INTO notes VALUES ('old')")
    database.rows("PRAGMA max_page_count = 60")
    with pytest.raises(DiskFull, match=r"No disk space left for '.*'\. Free some space and try again"):
        replace_all(database, ended_by_sqlite=ended_by_sqlite)
    assert "old" in [row["text"] for row in database.rows("SELECT text FROM notes")]
    database.rows("PRAGMA max_page_count = 6000")
    with database.transaction():
        database.rows("INSERT INTO notes VALUES ('new')")
    database.close()
