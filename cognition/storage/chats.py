"""The chats of users: the names that they gave them, and which of them are known here."""

from typing import Final

from cognition.identity import check_chat, check_user
from cognition.storage.sqlite.database import Database

TOLD_OF: Final = " UNION ".join(
    f"SELECT user_id FROM {table} WHERE chat_id = ?"
    for table in ("chats", "resources", "sources", "cognitive_threads", "closings")
)
"""The users of whom a chat is known: it has a name, holds something, or was closed."""


class ChatTable:
    """The names of every user's chats; each call is for one user. Blocking: call it in a thread.

    Args:
        database: The folder's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def name(self, user_id: str, chat_id: str, name: str) -> None:
        """Keep a name; it takes the place of an older one.

        Raises:
            InvalidInput: The user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        self._database.rows("INSERT OR REPLACE INTO chats VALUES (?, ?, ?)", (user_id, chat_id, name))

    def names(self, user_id: str) -> dict[str, str]:
        """The names of a user's chats by their ids; of chats that have none there is no entry.

        Raises:
            InvalidInput: The user is blank.
        """
        check_user(user_id)
        rows = self._database.rows("SELECT chat_id, name FROM chats WHERE user_id = ?", (user_id,))
        return {row["chat_id"]: row["name"] for row in rows}

    def users(self, chat_id: str) -> set[str]:
        """Those of whom a chat is known here: it has a name, holds something, or was closed."""
        rows = self._database.rows(TOLD_OF, (chat_id,) * (TOLD_OF.count("?")))
        return {row["user_id"] for row in rows}
