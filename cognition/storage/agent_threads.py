"""The index of sub-agent threads: the role, status and last exchange of each.

The messages of a thread are in its checkpoints, stored under its key.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal

from cognition.dates import now
from cognition.identity import check_chat, check_user
from cognition.levels import Policy
from cognition.storage.sqlite.database import Database

AgentThreadStatus = Literal["working", "open", "waiting"]
"""`working`: running or interrupted; `open`: done, accepts another request; `waiting`: needs an answer to
its question."""

AGENTS: Final = "agent:"
"""Prefix of the checkpoint ids of sub-agent threads."""

EXCERPT_LENGTH: Final = 200
"""Characters of the last request and of the last answer that the index keeps."""


@dataclass(frozen=True, kw_only=True)
class AgentThread:
    """A row of the index."""

    user_id: str
    chat_id: str
    sub_sid: str
    role: str
    """The display name of the role, for people and models."""
    skill_id: str = ""
    """The skill of the role; empty if it has none."""
    level: str = ""
    """The model level of the last answer."""
    status: AgentThreadStatus = "working"
    steps: int = 0
    """Number of model calls in the thread."""
    request: str = ""
    answer: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    policy: Policy = "AUTO_PRO"
    """The policy that limits the model levels of the latest run."""
    memory: Literal["on", "off"] = "on"
    """Permission for the latest run to recall memories."""

    @property
    def key(self) -> str:
        """The id of its checkpoints. Not a UUID, so a client of the server cannot request it."""
        identity = json.dumps([self.user_id, self.chat_id, self.sub_sid])
        return f"{AGENTS}{sha256(identity.encode()).hexdigest()}"


class AgentThreadTable:
    """The sub-agent threads of all users; each call is for one user. Blocking: call it from a worker thread.

    Args:
        database: The database of the home folder.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, thread: AgentThread, request: str) -> None:
        """Mark a thread as working on a request; add the thread if it is new.

        Raises:
            InvalidInput: If the user or the chat is blank.
        """
        check_chat(thread.user_id, thread.chat_id)
        values = {**vars(thread), "exchange": _exchange(request, ""), "now": now()}
        self._database.rows(
            """INSERT INTO cognitive_threads VALUES
                (:user_id, :chat_id, :sub_sid, :role, :skill_id, '', 'working', 0, :exchange, :now, :now,
                :policy, :memory)
            ON CONFLICT DO UPDATE SET status = 'working', last_exchange = :exchange, updated_at = :now,
                policy = :policy, memory = :memory""",
            values,
        )

    def finish(
        self,
        thread: AgentThread,
        *,
        status: AgentThreadStatus,
        level: str,
        steps: int,
        request: str,
        answer: str,
    ) -> bool:
        """Record the outcome of a request. Return False if the thread is no longer in the index."""
        updated = self._database.rows(
            """UPDATE cognitive_threads
            SET status = ?, level = ?, steps = ?, last_exchange = ?, updated_at = ?
            WHERE user_id = ? AND chat_id = ? AND sub_sid = ? RETURNING 1""",
            (status, level, steps, _exchange(request, answer), now(), *_primary_key(thread)),
        )
        return bool(updated)

    def get(self, user_id: str, chat_id: str, sub_sid: str) -> AgentThread | None:
        """Return a thread of a chat, or None if the chat has no thread with this id."""
        check_user(user_id)
        threads = self._select("user_id = ? AND chat_id = ? AND sub_sid = ?", (user_id, chat_id, sub_sid))
        return next(iter(threads), None)

    def of_chat(self, user_id: str, chat_id: str) -> list[AgentThread]:
        """Return the threads of a chat, most recently updated first."""
        check_user(user_id)
        return self._select("user_id = ? AND chat_id = ?", (user_id, chat_id))

    def of_user(self, user_id: str) -> list[AgentThread]:
        """Return the threads of all chats of a user, most recently updated first."""
        check_user(user_id)
        return self._select("user_id = ?", (user_id,))

    def delete(self, thread: AgentThread) -> None:
        """Delete a thread from the index. Its checkpoints stay."""
        self._database.rows(
            "DELETE FROM cognitive_threads WHERE user_id = ? AND chat_id = ? AND sub_sid = ?",
            _primary_key(thread),
        )

    def _select(self, condition: str, values: Sequence[object]) -> list[AgentThread]:
        rows = self._database.rows(
            f"SELECT * FROM cognitive_threads WHERE {condition} ORDER BY updated_at DESC, rowid DESC", values
        )
        return [_thread(row) for row in rows]


def _primary_key(thread: AgentThread) -> tuple[str, str, str]:
    check_user(thread.user_id)
    return thread.user_id, thread.chat_id, thread.sub_sid


def _exchange(request: str, answer: str) -> str:
    return json.dumps({"request": _excerpt(request), "answer": _excerpt(answer)}, ensure_ascii=False)


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_LENGTH else f"{line[: EXCERPT_LENGTH - 1]}…"


def _thread(row: Any) -> AgentThread:
    values = {key: row[key] for key in row.keys()}  # noqa: SIM118  # a Row iterates over its values
    return AgentThread(**json.loads(values.pop("last_exchange")), **values)
