"""Which chats had their session closed, and which of these closings are not done yet."""

from cognition.dates import now
from cognition.identity import check_chat
from cognition.storage.sqlite.database import Database


class Closures:
    """The last closing of each chat. Blocking: call it in a thread.

    Args:
        database: The folder's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, user_id: str, chat_id: str) -> None:
        """Take down that a chat is being closed; from here on the closing is carried to its end.

        Raises:
            InvalidInput: The user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        self._database.rows(
            "INSERT OR REPLACE INTO closings (user_id, chat_id, closed_at, done) VALUES (?, ?, ?, 0)",
            (user_id, chat_id, now()),
        )

    def finish(self, user_id: str, chat_id: str, begun: float) -> None:
        """Take down that a closing is done, unless the chat was closed again since.

        Args:
            user_id: Whose.
            chat_id: Which chat.
            begun: When the closing began, in unix seconds.
        """
        self._database.rows(
            "UPDATE closings SET done = 1 WHERE user_id = ? AND chat_id = ? AND closed_at = ?",
            (user_id, chat_id, begun),
        )

    def of(self, user_id: str, chat_id: str) -> tuple[float, bool]:
        """When a chat was closed last, in unix seconds (0 for never), and whether that is done."""
        check_chat(user_id, chat_id)
        rows = self._database.rows(
            "SELECT closed_at, done FROM closings WHERE user_id = ? AND chat_id = ?", (user_id, chat_id)
        )
        return (rows[0]["closed_at"], bool(rows[0]["done"])) if rows else (0.0, True)

    def unfinished(self) -> list[tuple[str, str]]:
        """The users and chats whose closing was interrupted."""
        rows = self._database.rows("SELECT user_id, chat_id FROM closings WHERE done = 0")
        return [(row["user_id"], row["chat_id"]) for row in rows]
