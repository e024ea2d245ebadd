"""The registry of resources: what was given to each chat, what became of it, and why."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from typing_extensions import TypedDict, Unpack

from cognition.dates import now
from cognition.identity import check_chat, check_user
from cognition.storage.sqlite.database import Database

ResourceType = Literal["text", "document", "image", "audio", "video", "binary", "weburl", "note"]


ResourceStatus = Literal["PENDING_INGESTION", "PUT_IN_CONTEXT", "VECTORIZED_SUM_UP", "INDEXED", "FAILED"]
"""Accepted and not yet dealt with; whole in the prompt; searchable with a summary in the prompt; registered
only, for the reason in `error`; failed for the reason in `error`, and taken up when it comes again."""

ID_PART: Final = 64
"""Characters of a user's or chat's id in a resource's id."""


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A row of the registry."""

    id: str
    user_id: str
    chat_id: str
    name: str
    resource_type: ResourceType
    mime: str
    size: int
    """Bytes of the original."""
    sha256: str
    status: ResourceStatus
    summary: str = ""
    storage_path: str = ""
    """Where the chat's own copy is, relative to the folder that holds everything stored."""
    chunks: int = 0
    error: str = ""
    message_id: str = ""
    """The message that it came with; empty for what came without one."""
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether there is nothing to gain from looking at it again, when it comes again."""
        if self.status == "INDEXED":
            # What a model or a password kept from being read may be readable by now.
            return self.resource_type in ("binary", "weburl")
        # So may pages of a document whose other pages were read.
        return self.status in ("PUT_IN_CONTEXT", "VECTORIZED_SUM_UP") and not self.error


class Changes(TypedDict, total=False):
    """What may change of a resource."""

    resource_type: ResourceType
    mime: str
    status: ResourceStatus
    summary: str
    storage_path: str
    chunks: int
    error: str
    message_id: str


class ResourceTable:
    """The resources of every user; each call is for one of them. Blocking: call it in a thread.

    Args:
        database: The folder's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last = 0

    def add(
        self,
        user_id: str,
        chat_id: str,
        *,
        name: str,
        resource_type: ResourceType,
        mime: str,
        size: int,
        sha256: str,
        storage_path: str = "",
        message_id: str = "",
    ) -> tuple[Resource, bool]:
        """Register a content as pending; the same content of the same chat is there once, whatever its name.

        Returns:
            The resource, and whether it is new.

        Raises:
            InvalidInput: The user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        with self._database.transaction():
            if known := self.of_content(user_id, chat_id, sha256):
                return known, False
            moment = now()
            row = Resource(
                id=self._new_id(user_id, chat_id, moment),
                user_id=user_id,
                chat_id=chat_id,
                name=name,
                resource_type=resource_type,
                mime=mime,
                size=size,
                sha256=sha256,
                status="PENDING_INGESTION",
                storage_path=storage_path,
                message_id=message_id,
                created_at=moment,
                updated_at=moment,
            )
            columns = list(vars(row))
            marks = ", ".join(f":{column}" for column in columns)
            self._database.rows(
                f"INSERT INTO resources ({', '.join(columns)}) VALUES ({marks})", dict(vars(row))
            )
            return row, True

    def get(self, user_id: str, resource_id: str) -> Resource | None:
        """A resource of the user's, of any of their chats; None when there is none of this id."""
        check_user(user_id)
        return next(iter(self._select("user_id = ? AND id = ?", (user_id, resource_id))), None)

    def of_content(self, user_id: str, chat_id: str, sha256: str) -> Resource | None:
        """The resource of a chat that has a content; None when the chat has none of it."""
        check_user(user_id)
        place = (user_id, chat_id, sha256)
        return next(iter(self._select("user_id = ? AND chat_id = ? AND sha256 = ?", place)), None)

    def find(
        self, user_id: str, chat_id: str, *, resource_type: str = "", status: str = "", term: str = ""
    ) -> list[Resource]:
        """The resources of a chat, newest first.

        Args:
            user_id: Whose.
            chat_id: Of which chat.
            resource_type: Only this type; empty for all.
            status: Only this status; empty for all.
            term: Only those with this in their name or summary, in any case; empty for all.

        Raises:
            InvalidInput: The user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        conditions, values = ["user_id = ?", "chat_id = ?"], [user_id, chat_id]
        for column, value in (("resource_type", resource_type), ("status", status)):
            if value:
                conditions.append(f"{column} = ?")
                values.append(value)
        found = self._select(" AND ".join(conditions), values)
        # Here and not in SQL, whose LIKE knows the case of ASCII only.
        wanted = term.casefold().strip()
        return [row for row in found if wanted in f"{row.name}\n{row.summary}".casefold()]

    def of_user(self, user_id: str) -> list[Resource]:
        """The resources of all of a user's chats, newest first."""
        check_user(user_id)
        return self._select("user_id = ?", (user_id,))

    def update(self, user_id: str, resource_id: str, **changes: Unpack[Changes]) -> Resource | None:
        """Change what is given and leave the rest; None when there is no such resource any more."""
        check_user(user_id)
        values = {**changes, "updated_at": now()}
        self._database.rows(
            f"UPDATE resources SET {', '.join(f'{column} = :{column}' for column in values)} "
            "WHERE user_id = :user_id AND id = :id",
            {**values, "user_id": user_id, "id": resource_id},
        )
        return self.get(user_id, resource_id)

    def put_in_context(
        self, resource: Resource, summary: str, fits: Callable[[Sequence[Resource]], bool]
    ) -> bool:
        """Give a resource a place in its chat's prompt, if it fits beside those that have one.

        Args:
            resource: Which one.
            summary: How its text begins; whoever has a place has this too, also after a kill.
            fits: Told the resources of the chat that are in the prompt; no other gets in meanwhile.
        """
        with self._database.transaction():
            shown = self.find(resource.user_id, resource.chat_id, status="PUT_IN_CONTEXT")
            if fitting := fits(shown):
                self.update(resource.user_id, resource.id, status="PUT_IN_CONTEXT", summary=summary)
        return fitting

    def delete(self, user_id: str, resource_id: str) -> bool:
        """Forget a resource of the user's; tells whether there was one."""
        check_user(user_id)
        deleted = self._database.rows(
            "DELETE FROM resources WHERE user_id = ? AND id = ? RETURNING id", (user_id, resource_id)
        )
        return bool(deleted)

    def purge(self, user_id: str, chat_id: str) -> int:
        """Forget all resources of a chat; tells how many there were."""
        check_chat(user_id, chat_id)
        deleted = self._database.rows(
            "DELETE FROM resources WHERE user_id = ? AND chat_id = ? RETURNING id", (user_id, chat_id)
        )
        return len(deleted)

    def _select(self, condition: str, values: Sequence[object]) -> list[Resource]:
        rows = self._database.rows(
            f"SELECT * FROM resources WHERE {condition} ORDER BY created_at DESC, rowid DESC", values
        )
        return [Resource(**{key: row[key] for key in row.keys()}) for row in rows]  # noqa: SIM118  # a Row iterates its values

    def _new_id(self, user_id: str, chat_id: str, moment: float) -> str:
        """An id that no resource has; within a transaction."""
        milliseconds = max(int(moment * 1_000), self._last + 1)
        while self._database.rows(
            "SELECT 1 FROM resources WHERE id = ?", [new := native_id(user_id, chat_id, milliseconds)]
        ):
            milliseconds += 1  # another process's
        self._last = milliseconds
        return new


def native_id(user_id: str, chat_id: str, milliseconds: int) -> str:
    """The id of what came to a chat at a moment: `U_{user}_C_{chat}_T_{unix ms}`, in plain characters."""
    return f"U_{_plain(user_id)}_C_{_plain(chat_id)}_T_{milliseconds}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", text)[:ID_PART]
