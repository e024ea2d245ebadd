"""The catalogue of session memory: the sources of each chat, and which of their versions is shown."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from sqlite3 import Row
from typing import Any, Final, Literal

from cognition.dates import Period
from cognition.storage.sqlite.database import Database

State = Literal["WRITING", "INDEXING", "READY", "REMOVED"]
"""Being written; found by its words while embeddings are added; whole; its points are to be cleared.

Of each source the READY version is shown, and while there is none the INDEXING one."""

SHOWN: Final = """(s.state = 'READY' OR s.state = 'INDEXING' AND NOT EXISTS (
    SELECT 1 FROM sources AS r WHERE r.user_id = s.user_id AND r.chat_id = s.chat_id
    AND r.source_id = s.source_id AND r.state = 'READY'))"""

SCOPE: Final = "s.user_id = :user_id AND (:chat_id IS NULL OR s.chat_id = :chat_id)"
"""The sources of one chat, or with NULL of all chats of the user."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A text that a chat holds, in one version. Times are unix seconds, UTC."""

    user_id: str
    chat_id: str
    source_id: str
    version: int = 0
    """Larger than that of everything that was begun before."""
    state: State = "WRITING"
    name: str = ""
    sha256: str = ""
    chunks: int = 0
    embedded: int = 0
    """How many chunks, from the first on, have their embedding."""
    characters: int = 0
    lines: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    tags: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    """In which its chunks are stemmed."""
    preview: str = ""
    indexed_at: float = 0.0


@dataclass(frozen=True)
class Snapshot:
    """Which versions a reader sees from now on, whatever is written meanwhile.

    Attributes:
        last: No version beyond this one.
        hidden: Nor these.
        sources: How many sources there are.
        languages: Those of their chunks.
        indexing: Sources whose embeddings are not all there.
    """

    last: int
    hidden: list[int]
    sources: int
    languages: set[str]
    indexing: list[Source]


@dataclass(frozen=True)
class Listing:
    """The newest sources, and how many there are."""

    sources: list[Source]
    total: int


class SourceTable:
    """The table of sources. Blocking: call it in a thread.

    Args:
        database: The folder's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, source: Source) -> int:
        """Take down a version whose points are about to be written; returns its number."""
        values = {**vars(source), "tags": json.dumps(source.tags), "languages": json.dumps(source.languages)}
        del values["version"]
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        sql = f"INSERT INTO sources ({names}) VALUES ({marks}) RETURNING version"
        return int(self._database.rows(sql, values)[0]["version"])

    def finish(
        self, version: int, state: State, *, chunks: int, embedded: int, languages: Sequence[str]
    ) -> bool:
        """Show a version whose points are written, in place of the older ones; False if it was removed.

        An INDEXING version leaves the READY one in its place until it is READY itself.
        """
        written = {"chunks": chunks, "embedded": embedded, "languages": json.dumps(sorted(languages))}
        sql = (
            "UPDATE sources SET state = :state, chunks = :chunks, embedded = :embedded, "
            "languages = :languages WHERE version = :version AND state = 'WRITING' RETURNING version"
        )
        return self._replace(sql, {"version": version, "state": state, **written})

    def complete(self, version: int) -> bool:
        """Make an INDEXING version READY, in place of the older ones; False if it was removed."""
        sql = (
            "UPDATE sources SET state = :state WHERE version = :version AND state = 'INDEXING' "
            "RETURNING version"
        )
        return self._replace(sql, {"version": version, "state": "READY"})

    def _replace(self, sql: str, values: dict[str, Any]) -> bool:
        with self._database.transaction():
            changed = bool(self._database.rows(sql, values))
            if changed:
                self._database.rows(
                    "UPDATE sources AS s SET state = 'REMOVED' FROM sources AS n "
                    "WHERE n.version = :version AND s.version < n.version AND s.user_id = n.user_id "
                    "AND s.chat_id = n.chat_id AND s.source_id = n.source_id "
                    "AND (:state = 'READY' OR s.state = 'INDEXING')",
                    values,
                )
        return changed

    def advance(self, version: int, embedded: int) -> None:
        """Take down how many chunks of a version have their embedding."""
        self._database.rows("UPDATE sources SET embedded = ? WHERE version = ?", (embedded, version))

    def turns(self, user_id: str, chat_id: str) -> set[str]:
        """The last messages of the turns of a chat that are stored."""
        sql = "SELECT message_id FROM indexed_turns WHERE user_id = ? AND chat_id = ?"
        return {row["message_id"] for row in self._database.rows(sql, (user_id, chat_id))}

    def grow(self, version: int, by: Source, message_ids: Sequence[str]) -> bool:
        """Take down the turns that were added to a conversation, and mark them as stored.

        Args:
            version: The conversation's.
            by: Whose, and how much there is more of what a source has.
            message_ids: The last message of each turn.

        Returns:
            Whether it was still there: nothing is changed of one that was removed.
        """
        with self._database.transaction():
            sql = "SELECT * FROM sources WHERE version = ? AND state = 'READY'"
            if not (rows := self._database.rows(sql, (version,))):
                return False
            known = _source(rows[0])
            languages = json.dumps(sorted({*known.languages, *by.languages}))
            self._database.rows(
                "UPDATE sources SET chunks = chunks + :chunks, embedded = embedded + :chunks, "
                "characters = characters + :characters, lines = lines + :lines, preview = :preview, "
                "first_at = iif(chunks, min(first_at, :first_at), :first_at), "
                "last_at = max(last_at, :last_at), "
                "languages = :languages, indexed_at = :indexed_at WHERE version = :version",
                {**vars(by), "tags": "", "languages": languages, "version": version},
            )
            for message_id in message_ids:
                self._database.rows(
                    "INSERT OR IGNORE INTO indexed_turns VALUES (?, ?, ?)",
                    (by.user_id, by.chat_id, message_id),
                )
        return True

    def state(self, version: int) -> State | None:
        """The state of a version; None when it is gone."""
        rows = self._database.rows("SELECT state FROM sources WHERE version = ?", (version,))
        return rows[0]["state"] if rows else None

    def newest(self, user_id: str, chat_id: str, source_id: str) -> Source | None:
        """The newest version of a source that is whole or on its way to it."""
        rows = self._database.rows(
            "SELECT * FROM sources WHERE user_id = ? AND chat_id = ? AND source_id = ? "
            "AND state IN ('READY', 'INDEXING') ORDER BY version DESC LIMIT 1",
            (user_id, chat_id, source_id),
        )
        return _source(rows[0]) if rows else None

    def shown(self, user_id: str, chat_id: str | None, source_id: str) -> list[Source]:
        """The shown version of a source, one for each chat that has it."""
        sql = f"SELECT * FROM sources AS s WHERE {SCOPE} AND s.source_id = :source_id AND {SHOWN}"
        values = {"user_id": user_id, "chat_id": chat_id, "source_id": source_id}
        return [_source(row) for row in self._database.rows(sql, values)]

    def view(self, user_id: str, chat_id: str | None, source_id: str = "") -> Snapshot:
        """What a reader sees of a scope, or of one source in it."""
        scope = f"FROM sources AS s WHERE {SCOPE} AND (:source_id = '' OR s.source_id = :source_id)"
        values = {"user_id": user_id, "chat_id": chat_id, "source_id": source_id}
        with self._database.transaction():
            rows = self._database.rows
            last = rows("SELECT max(seq) AS last FROM sqlite_sequence WHERE name = 'sources'")[0]["last"]
            hidden = rows(f"SELECT version {scope} AND NOT {SHOWN}", values)
            shown = rows(f"SELECT languages, count(*) AS many {scope} AND {SHOWN} GROUP BY languages", values)
            indexing = rows(f"SELECT * {scope} AND {SHOWN} AND s.state = 'INDEXING'", values)
        return Snapshot(
            last or 0,
            [row["version"] for row in hidden],
            sum(row["many"] for row in shown),
            {language for row in shown for language in json.loads(row["languages"])},
            [_source(row) for row in indexing],
        )

    def listing(
        self, user_id: str, chat_id: str | None, source_id: str, limit: int, period: Period | None
    ) -> Listing:
        """The shown sources of a scope whose content is of a period, those with the newest content first."""
        values = {
            "user_id": user_id,
            "chat_id": chat_id,
            "source_id": source_id,
            "limit": limit,
            "start": period.start if period else None,
            "end": period.end if period else None,
        }
        among = (
            f"FROM sources AS s WHERE {SCOPE} AND {SHOWN} AND (:source_id = '' OR s.source_id = :source_id) "
            "AND (:start IS NULL OR s.last_at >= :start) AND (:end IS NULL OR s.first_at <= :end)"
        )
        with self._database.transaction():
            total = self._database.rows(f"SELECT count(*) AS many {among}", values)[0]["many"]
            order = "ORDER BY s.last_at DESC, s.version DESC LIMIT :limit"
            rows = self._database.rows(f"SELECT * {among} {order}", values)
        return Listing([_source(row) for row in rows], total)

    def ids(self, user_id: str, chat_id: str | None) -> list[str]:
        """The ids of the shown sources of a scope."""
        sql = f"SELECT DISTINCT s.source_id FROM sources AS s WHERE {SCOPE} AND {SHOWN} ORDER BY 1"
        return [row[0] for row in self._database.rows(sql, {"user_id": user_id, "chat_id": chat_id})]

    def remove(self, user_id: str, chat_id: str, source_id: str | None = None) -> int | None:
        """Hide a source, or all of a chat, for good; how many chunks were shown, None when there was none."""
        among = f"{SCOPE} AND (:source_id IS NULL OR s.source_id = :source_id)"
        values = {"user_id": user_id, "chat_id": chat_id, "source_id": source_id}
        with self._database.transaction():
            sql = f"SELECT sum(s.chunks) AS many FROM sources AS s WHERE {among} AND {SHOWN}"
            chunks = self._database.rows(sql, values)[0]["many"]
            if source_id is not None and chunks is None:
                return None  # what is being saved for the first time goes on
            self._database.rows(f"UPDATE sources AS s SET state = 'REMOVED' WHERE {among}", values)
            if source_id is None:
                mine = (user_id, chat_id)
                self._database.rows("DELETE FROM indexed_turns WHERE user_id = ? AND chat_id = ?", mine)
        return None if chunks is None else int(chunks)

    def discard(self, version: int) -> None:
        """Give up a version that is not shown yet."""
        sql = "UPDATE sources SET state = 'REMOVED' WHERE version = ? AND state = 'WRITING'"
        self._database.rows(sql, (version,))

    def abandon(self) -> None:
        """Give up what a process that is gone was writing."""
        self._database.rows("UPDATE sources SET state = 'REMOVED' WHERE state = 'WRITING'")

    def removed(self) -> list[Source]:
        """The versions whose points are to be cleared."""
        return [_source(r) for r in self._database.rows("SELECT * FROM sources WHERE state = 'REMOVED'")]

    def forget(self, version: int) -> None:
        """Take a version out of the table when its points are cleared."""
        self._database.rows("DELETE FROM sources WHERE version = ?", (version,))

    def waiting(self) -> Source | None:
        """The oldest version whose embeddings are not all there."""
        sql = "SELECT * FROM sources WHERE state = 'INDEXING' ORDER BY version LIMIT 1"
        rows = self._database.rows(sql)
        return _source(rows[0]) if rows else None


def _source(row: Row) -> Source:
    values = dict(row)
    values["tags"], values["languages"] = json.loads(row["tags"]), json.loads(row["languages"])
    return Source(**values)
