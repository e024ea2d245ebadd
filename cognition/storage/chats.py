"""The chats of users: their names, and the users of each chat."""

from typing import Final

from cognition.identity import check_chat, check_user
from cognition.storage.sqlite.database import Database

USERS_OF_CHAT: Final = " UNION ".join(
    f"SELECT user_id FROM {table} WHERE chat_id = ?"
    for table in ("chats", "resources", "sources", "cognitive_threads", "closings")
)
"""SQL that selects the users who named a chat, stored something in it, or closed its session."""


class ChatTable:
    """The chat names of all users; each call is for one user. Blocking: call it from a worker thread.

    Args:
        database: The database of the home folder.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def name(self, user_id: str, chat_id: str, name: str) -> None:
        """Store the name of a chat, replacing the previous one.

        Raises:
            InvalidInput: If the user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        self._database.rows("INSERT OR REPLACE INTO chats VALUES (?, ?, ?)", (user_id, chat_id, name))

    def names(self, user_id: str) -> dict[str, str]:
        """Return the names of a user's chats by chat id; unnamed chats are left out.

        Raises:
            InvalidInput: If the user is blank.
        """
        check_user(user_id)
        rows = self._database.rows("SELECT chat_id, name FROM chats WHERE user_id = ?", (user_id,))
        return {row["chat_id"]: row["name"] for row in rows}

    def users(self, chat_id: str) -> set[str]:
        """Return the users who named a chat, stored something in it, or closed its session."""
        rows = self._database.rows(USERS_OF_CHAT, (chat_id,) * (USERS_OF_CHAT.count("?")))
        return {row["user_id"] for row in rows}
