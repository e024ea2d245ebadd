"""The record of closed sessions, including closures that were interrupted."""

from cognition.dates import now
from cognition.identity import check_chat
from cognition.storage.sqlite.database import Database


class Closures:
    """The last closure of each chat's session. Blocking: call it from a worker thread.

    Args:
        database: The database of the home folder.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, user_id: str, chat_id: str) -> None:
        """Record that a session is being closed; if interrupted, the closure is completed later.

        Raises:
            InvalidInput: If the user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        self._database.rows(
            "INSERT OR REPLACE INTO closings (user_id, chat_id, closed_at, done) VALUES (?, ?, ?, 0)",
            (user_id, chat_id, now()),
        )

    def finish(self, user_id: str, chat_id: str, begun: float) -> None:
        """Record that a closure is complete, unless the session has been closed again since.

        Args:
            user_id: The user.
            chat_id: The chat.
            begun: Start of the closure, in Unix seconds.
        """
        self._database.rows(
            "UPDATE closings SET done = 1 WHERE user_id = ? AND chat_id = ? AND closed_at = ?",
            (user_id, chat_id, begun),
        )

    def of(self, user_id: str, chat_id: str) -> tuple[float, bool]:
        """Return the time of the last closure in Unix seconds (0 if none), and True if it is complete.

        Raises:
            InvalidInput: If the user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        rows = self._database.rows(
            "SELECT closed_at, done FROM closings WHERE user_id = ? AND chat_id = ?", (user_id, chat_id)
        )
        return (rows[0]["closed_at"], bool(rows[0]["done"])) if rows else (0.0, True)

    def unfinished(self) -> list[tuple[str, str]]:
        """Return the (user, chat) pairs with an incomplete closure."""
        rows = self._database.rows("SELECT user_id, chat_id FROM closings WHERE done = 0")
        return [(row["user_id"], row["chat_id"]) for row in rows]
