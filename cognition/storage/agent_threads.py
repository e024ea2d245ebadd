"""The index of the threads of sub-agents: who each one is, where it stands, and what was said last.

What was said in a thread is in its checkpoints, under its key.
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
"""At work, or cut off at it; done, and ready for more; waiting for an answer to its question."""

AGENTS: Final = "agent:"
"""What the ids of their checkpoints begin with."""

EXCERPT: Final = 200
"""Characters of a request and of an answer that the index keeps."""


@dataclass(frozen=True, kw_only=True)
class AgentThread:
    """A row of the index."""

    user_id: str
    chat_id: str
    sub_sid: str
    role: str
    """The name of the role, for people and models."""
    skill_id: str = ""
    """The skill behind the role; empty for none."""
    level: str = ""
    """The level that spoke last."""
    status: AgentThreadStatus = "working"
    steps: int = 0
    """Model calls that were made in it."""
    request: str = ""
    answer: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    policy: Policy = "AUTO_PRO"
    """The levels that may think in its newest run."""
    memory: Literal["on", "off"] = "on"
    """Whether its newest run may recall memories."""

    @property
    def key(self) -> str:
        """The id of its checkpoints. It is no UUID, so that no client of a server can ask for it."""
        told = json.dumps([self.user_id, self.chat_id, self.sub_sid])
        return f"{AGENTS}{sha256(told.encode()).hexdigest()}"


class AgentThreadTable:
    """The threads of every user; each call is for one of them. Blocking: call it in a thread.

    Args:
        database: The folder's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, thread: AgentThread, request: str) -> None:
        """Note that a thread is at work on a request, and open it if it is new.

        Raises:
            ValueError: The user or the chat is blank.
        """
        check_chat(thread.user_id, thread.chat_id)
        values = {**vars(thread), "said": _exchange(request, ""), "now": now()}
        self._database.rows(
            """INSERT INTO cognitive_threads VALUES
                (:user_id, :chat_id, :sub_sid, :role, :skill_id, '', 'working', 0, :said, :now, :now,
                :policy, :memory)
            ON CONFLICT DO UPDATE SET status = 'working', last_exchange = :said, updated_at = :now,
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
        """Note what came of a request; tells whether the thread is still in the index."""
        updated = self._database.rows(
            """UPDATE cognitive_threads
            SET status = ?, level = ?, steps = ?, last_exchange = ?, updated_at = ?
            WHERE user_id = ? AND chat_id = ? AND sub_sid = ? RETURNING 1""",
            (status, level, steps, _exchange(request, answer), now(), *_place(thread)),
        )
        return bool(updated)

    def get(self, user_id: str, chat_id: str, sub_sid: str) -> AgentThread | None:
        """A thread of a chat; None when the chat has none of this id."""
        check_user(user_id)
        found = self._select("user_id = ? AND chat_id = ? AND sub_sid = ?", (user_id, chat_id, sub_sid))
        return next(iter(found), None)

    def of_chat(self, user_id: str, chat_id: str) -> list[AgentThread]:
        """The threads of a chat, the one that moved last first."""
        check_user(user_id)
        return self._select("user_id = ? AND chat_id = ?", (user_id, chat_id))

    def of_user(self, user_id: str) -> list[AgentThread]:
        """The threads of all of a user's chats, the one that moved last first."""
        check_user(user_id)
        return self._select("user_id = ?", (user_id,))

    def delete(self, thread: AgentThread) -> None:
        """Take a thread out of the index."""
        self._database.rows(
            "DELETE FROM cognitive_threads WHERE user_id = ? AND chat_id = ? AND sub_sid = ?", _place(thread)
        )

    def _select(self, condition: str, values: Sequence[object]) -> list[AgentThread]:
        rows = self._database.rows(
            f"SELECT * FROM cognitive_threads WHERE {condition} ORDER BY updated_at DESC, rowid DESC", values
        )
        return [_thread(row) for row in rows]


def _place(thread: AgentThread) -> tuple[str, str, str]:
    check_user(thread.user_id)
    return thread.user_id, thread.chat_id, thread.sub_sid


def _exchange(request: str, answer: str) -> str:
    return json.dumps({"request": _excerpt(request), "answer": _excerpt(answer)}, ensure_ascii=False)


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1]}…"


def _thread(row: Any) -> AgentThread:
    values = {key: row[key] for key in row.keys()}  # noqa: SIM118  # a Row iterates its values
    return AgentThread(**json.loads(values.pop("last_exchange")), **values)
