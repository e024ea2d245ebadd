"""The catalogue of session memory: the sources of each chat and their visible versions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from sqlite3 import Row
from typing import Any, Final, Literal

from cognition.dates import Period
from cognition.storage.sqlite.database import Database

State = Literal["WRITING", "INDEXING", "READY", "REMOVED"]
"""The state of a version.

- WRITING: its points are being written; it is not visible yet.
- INDEXING: lexical search finds it while its embeddings are being added.
- READY: complete.
- REMOVED: its points are waiting to be deleted.

The READY version of a source is visible or, if there is none, the INDEXING version."""

VISIBLE: Final = """(s.state = 'READY' OR s.state = 'INDEXING' AND NOT EXISTS (
    SELECT 1 FROM sources AS r WHERE r.user_id = s.user_id AND r.chat_id = s.chat_id
    AND r.source_id = s.source_id AND r.state = 'READY'))"""
"""SQL condition for the visible versions."""

SCOPE: Final = "s.user_id = :user_id AND (:chat_id IS NULL OR s.chat_id = :chat_id)"
"""SQL condition for the sources of a chat, or of all chats of the user if the chat is NULL."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A version of a text in session memory. Times are unix seconds."""

    user_id: str
    chat_id: str
    source_id: str
    version: int = 0
    """Increases with every version in the table."""
    state: State = "WRITING"
    name: str = ""
    sha256: str = ""
    chunks: int = 0
    embedded: int = 0
    """Number of embedded chunks, counted from the first."""
    characters: int = 0
    lines: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    tags: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    """The languages in which its chunks are stemmed."""
    preview: str = ""
    indexed_at: float = 0.0


@dataclass(frozen=True)
class Snapshot:
    """A consistent view of the catalogue for a reader, unaffected by later writes.

    Attributes:
        last: The last version to include.
        hidden: Versions up to `last` to exclude.
        sources: Number of visible sources.
        languages: The languages of their chunks.
        indexing: The visible sources whose embeddings are incomplete.
    """

    last: int
    hidden: list[int]
    sources: int
    languages: set[str]
    indexing: list[Source]


@dataclass(frozen=True)
class Listing:
    """A page of the newest sources, and the total number."""

    sources: list[Source]
    total: int


class SourceTable:
    """The table of sources. Blocking: call it from a worker thread.

    Args:
        database: The database of the home folder.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, source: Source) -> int:
        """Insert a version whose points are about to be written. Return its number."""
        values = {**vars(source), "tags": json.dumps(source.tags), "languages": json.dumps(source.languages)}
        del values["version"]
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        sql = f"INSERT INTO sources ({names}) VALUES ({marks}) RETURNING version"
        return int(self._database.rows(sql, values)[0]["version"])

    def finish(
        self, version: int, state: State, *, chunks: int, embedded: int, languages: Sequence[str]
    ) -> bool:
        """Make a written version visible and remove the older ones. Return False if it was removed.

        An INDEXING version replaces the READY one only when it becomes READY itself.
        """
        written = {"chunks": chunks, "embedded": embedded, "languages": json.dumps(sorted(languages))}
        sql = (
            "UPDATE sources SET state = :state, chunks = :chunks, embedded = :embedded, "
            "languages = :languages WHERE version = :version AND state = 'WRITING' RETURNING version"
        )
        return self._replace(sql, {"version": version, "state": state, **written})

    def complete(self, version: int) -> bool:
        """Mark an INDEXING version READY and remove the older ones. Return False if it was removed."""
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
        """Record the number of embedded chunks of a version."""
        self._database.rows("UPDATE sources SET embedded = ? WHERE version = ?", (embedded, version))

    def turns(self, user_id: str, chat_id: str) -> set[str]:
        """Return the ids of the last messages of a chat's indexed turns."""
        sql = "SELECT message_id FROM indexed_turns WHERE user_id = ? AND chat_id = ?"
        return {row["message_id"] for row in self._database.rows(sql, (user_id, chat_id))}

    def grow(self, version: int, by: Source, message_ids: Sequence[str]) -> bool:
        """Record the turns added to a conversation, and mark them as indexed.

        Args:
            version: The version of the conversation.
            by: The added turns as a source: its counts are added to the conversation's.
            message_ids: The id of the last message of each turn.

        Returns:
            False if the conversation was removed meanwhile, in which case nothing is changed.
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
        """Return the state of a version, or None if it does not exist."""
        rows = self._database.rows("SELECT state FROM sources WHERE version = ?", (version,))
        return rows[0]["state"] if rows else None

    def newest(self, user_id: str, chat_id: str, source_id: str) -> Source | None:
        """Return the newest READY or INDEXING version of a source, or None."""
        rows = self._database.rows(
            "SELECT * FROM sources WHERE user_id = ? AND chat_id = ? AND source_id = ? "
            "AND state IN ('READY', 'INDEXING') ORDER BY version DESC LIMIT 1",
            (user_id, chat_id, source_id),
        )
        return _source(rows[0]) if rows else None

    def visible(self, user_id: str, chat_id: str | None, source_id: str) -> list[Source]:
        """Return the visible version of a source, for each chat that has it."""
        sql = f"SELECT * FROM sources AS s WHERE {SCOPE} AND s.source_id = :source_id AND {VISIBLE}"
        values = {"user_id": user_id, "chat_id": chat_id, "source_id": source_id}
        return [_source(row) for row in self._database.rows(sql, values)]

    def view(self, user_id: str, chat_id: str | None, source_id: str = "") -> Snapshot:
        """Return a snapshot of a chat, or of all chats if None; optionally of one source."""
        scope = f"FROM sources AS s WHERE {SCOPE} AND (:source_id = '' OR s.source_id = :source_id)"
        values = {"user_id": user_id, "chat_id": chat_id, "source_id": source_id}
        with self._database.transaction():
            rows = self._database.rows
            last = rows("SELECT max(seq) AS last FROM sqlite_sequence WHERE name = 'sources'")[0]["last"]
            hidden = rows(f"SELECT version {scope} AND NOT {VISIBLE}", values)
            languages = rows(
                f"SELECT languages, count(*) AS many {scope} AND {VISIBLE} GROUP BY languages", values
            )
            indexing = rows(f"SELECT * {scope} AND {VISIBLE} AND s.state = 'INDEXING'", values)
        return Snapshot(
            last or 0,
            [row["version"] for row in hidden],
            sum(row["many"] for row in languages),
            {language for row in languages for language in json.loads(row["languages"])},
            [_source(row) for row in indexing],
        )

    def listing(
        self, user_id: str, chat_id: str | None, source_id: str, limit: int, period: Period | None
    ) -> Listing:
        """Return the visible sources of a chat, or of all chats if None, with the newest content first.

        Args:
            user_id: The user.
            chat_id: The chat; None for all.
            source_id: Limit to this source; empty for all.
            limit: Maximum number of sources.
            period: Limit to sources with content from this period.
        """
        values = {
            "user_id": user_id,
            "chat_id": chat_id,
            "source_id": source_id,
            "limit": limit,
            "start": period.start if period else None,
            "end": period.end if period else None,
        }
        scope = (
            f"FROM sources AS s WHERE {SCOPE} AND {VISIBLE} "
            "AND (:source_id = '' OR s.source_id = :source_id) "
            "AND (:start IS NULL OR s.last_at >= :start) AND (:end IS NULL OR s.first_at <= :end)"
        )
        with self._database.transaction():
            total = self._database.rows(f"SELECT count(*) AS many {scope}", values)[0]["many"]
            order = "ORDER BY s.last_at DESC, s.version DESC LIMIT :limit"
            rows = self._database.rows(f"SELECT * {scope} {order}", values)
        return Listing([_source(row) for row in rows], total)

    def ids(self, user_id: str, chat_id: str | None) -> list[str]:
        """Return the ids of the visible sources of a chat, or of all chats if None."""
        sql = f"SELECT DISTINCT s.source_id FROM sources AS s WHERE {SCOPE} AND {VISIBLE} ORDER BY 1"
        return [row[0] for row in self._database.rows(sql, {"user_id": user_id, "chat_id": chat_id})]

    def remove(self, user_id: str, chat_id: str, source_id: str | None = None) -> int | None:
        """Mark a source, or all sources of a chat, REMOVED. Return the number of visible chunks, or None."""
        scope = f"{SCOPE} AND (:source_id IS NULL OR s.source_id = :source_id)"
        values = {"user_id": user_id, "chat_id": chat_id, "source_id": source_id}
        with self._database.transaction():
            sql = f"SELECT sum(s.chunks) AS many FROM sources AS s WHERE {scope} AND {VISIBLE}"
            chunks = self._database.rows(sql, values)[0]["many"]
            if source_id is not None and chunks is None:
                return None  # a source being saved for the first time must not be removed
            self._database.rows(f"UPDATE sources AS s SET state = 'REMOVED' WHERE {scope}", values)
            if source_id is None:
                chat = (user_id, chat_id)
                self._database.rows("DELETE FROM indexed_turns WHERE user_id = ? AND chat_id = ?", chat)
        return None if chunks is None else int(chunks)

    def discard(self, version: int) -> None:
        """Mark a version that is still being written REMOVED."""
        sql = "UPDATE sources SET state = 'REMOVED' WHERE version = ? AND state = 'WRITING'"
        self._database.rows(sql, (version,))

    def abandon(self) -> None:
        """Mark all versions that a terminated process was writing REMOVED."""
        self._database.rows("UPDATE sources SET state = 'REMOVED' WHERE state = 'WRITING'")

    def removed(self) -> list[Source]:
        """Return the REMOVED versions, whose points are to be deleted."""
        return [_source(r) for r in self._database.rows("SELECT * FROM sources WHERE state = 'REMOVED'")]

    def forget(self, version: int) -> None:
        """Delete a version from the table, after its points were deleted."""
        self._database.rows("DELETE FROM sources WHERE version = ?", (version,))

    def waiting(self) -> Source | None:
        """Return the oldest INDEXING version, or None."""
        sql = "SELECT * FROM sources WHERE state = 'INDEXING' ORDER BY version LIMIT 1"
        rows = self._database.rows(sql)
        return _source(rows[0]) if rows else None


def _source(row: Row) -> Source:
    values = dict(row)
    values["tags"], values["languages"] = json.loads(row["tags"]), json.loads(row["languages"])
    return Source(**values)
