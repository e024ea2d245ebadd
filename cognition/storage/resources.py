"""The registry of resources: the files of each chat and the outcome of their ingestion."""

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
"""`PENDING_INGESTION`: stored, not yet ingested; `PUT_IN_CONTEXT`: whole in the prompt; `VECTORIZED_SUM_UP`:
searchable, with a summary in the prompt; `INDEXED`: registered only, for the reason in `error`; `FAILED`: see
`error`, retried when the file is added again."""

ID_PART_LENGTH: Final = 64
"""Maximum characters of a user id or chat id within a resource id."""


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
    """Size of the original in bytes."""
    sha256: str
    status: ResourceStatus
    summary: str = ""
    storage_path: str = ""
    """Path of the chat's copy, relative to the home folder."""
    chunks: int = 0
    error: str = ""
    message_id: str = ""
    """The message it was attached to; empty if there was none."""
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def settled(self) -> bool:
        """True if ingesting the resource again would change nothing."""
        if self.status == "INDEXED":
            # Other types may succeed now, for example because a model has become available.
            return self.resource_type in ("binary", "weburl")
        # An error here lists the pages of a document that were not read; they may succeed now too.
        return self.status in ("PUT_IN_CONTEXT", "VECTORIZED_SUM_UP") and not self.error


class Changes(TypedDict, total=False):
    """The columns of a resource that can be updated."""

    resource_type: ResourceType
    mime: str
    status: ResourceStatus
    summary: str
    storage_path: str
    chunks: int
    error: str
    message_id: str


class ResourceTable:
    """The resources of all users; each call is for one user. Blocking: call it from a worker thread.

    Args:
        database: The database of the home folder.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last_milliseconds = 0

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
        """Register a file as pending. A chat registers the same content once, whatever its name.

        Returns:
            The resource, and True if it is new.

        Raises:
            InvalidInput: If the user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        with self._database.transaction():
            if existing := self.of_content(user_id, chat_id, sha256):
                return existing, False
            created_at = now()
            row = Resource(
                id=self._new_id(user_id, chat_id, created_at),
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
                created_at=created_at,
                updated_at=created_at,
            )
            columns = list(vars(row))
            placeholders = ", ".join(f":{column}" for column in columns)
            self._database.rows(
                f"INSERT INTO resources ({', '.join(columns)}) VALUES ({placeholders})", dict(vars(row))
            )
            return row, True

    def get(self, user_id: str, resource_id: str) -> Resource | None:
        """Return a resource of the user, from any chat, or None if there is none with this id."""
        check_user(user_id)
        return next(iter(self._select("user_id = ? AND id = ?", (user_id, resource_id))), None)

    def of_content(self, user_id: str, chat_id: str, sha256: str) -> Resource | None:
        """Return the resource of a chat with this content, or None if the chat has none."""
        check_user(user_id)
        values = (user_id, chat_id, sha256)
        return next(iter(self._select("user_id = ? AND chat_id = ? AND sha256 = ?", values)), None)

    def find(
        self, user_id: str, chat_id: str, *, resource_type: str = "", status: str = "", term: str = ""
    ) -> list[Resource]:
        """Return the resources of a chat, newest first.

        Args:
            user_id: The user.
            chat_id: The chat.
            resource_type: Return only this type; empty for all.
            status: Return only this status; empty for all.
            term: Return only resources with this text in their name or summary, ignoring case; empty for all.

        Raises:
            InvalidInput: If the user or the chat is blank.
        """
        check_chat(user_id, chat_id)
        conditions, values = ["user_id = ?", "chat_id = ?"], [user_id, chat_id]
        for column, value in (("resource_type", resource_type), ("status", status)):
            if value:
                conditions.append(f"{column} = ?")
                values.append(value)
        rows = self._select(" AND ".join(conditions), values)
        # Not in SQL: its LIKE ignores case for ASCII letters only.
        folded_term = term.casefold().strip()
        return [row for row in rows if folded_term in f"{row.name}\n{row.summary}".casefold()]

    def of_user(self, user_id: str) -> list[Resource]:
        """Return the resources of all chats of a user, newest first."""
        check_user(user_id)
        return self._select("user_id = ?", (user_id,))

    def update(self, user_id: str, resource_id: str, **changes: Unpack[Changes]) -> Resource | None:
        """Update some columns of a resource. Return None if the resource no longer exists."""
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
        """Put a resource into its chat's prompt if there is room. Return True if it was put there.

        Args:
            resource: The resource.
            summary: The beginning of its text. Stored in the same transaction as the status, so a killed
                process cannot leave one without the other.
            fits: Called with the resources already in the prompt. No other resource can be added until it
                returns.
        """
        with self._database.transaction():
            shown = self.find(resource.user_id, resource.chat_id, status="PUT_IN_CONTEXT")
            if has_room := fits(shown):
                self.update(resource.user_id, resource.id, status="PUT_IN_CONTEXT", summary=summary)
        return has_room

    def delete(self, user_id: str, resource_id: str) -> bool:
        """Delete a resource of the user. Return False if it does not exist."""
        check_user(user_id)
        deleted = self._database.rows(
            "DELETE FROM resources WHERE user_id = ? AND id = ? RETURNING id", (user_id, resource_id)
        )
        return bool(deleted)

    def purge(self, user_id: str, chat_id: str) -> int:
        """Delete all resources of a chat. Return their number."""
        check_chat(user_id, chat_id)
        deleted = self._database.rows(
            "DELETE FROM resources WHERE user_id = ? AND chat_id = ? RETURNING id", (user_id, chat_id)
        )
        return len(deleted)

    def _select(self, condition: str, values: Sequence[object]) -> list[Resource]:
        rows = self._database.rows(
            f"SELECT * FROM resources WHERE {condition} ORDER BY created_at DESC, rowid DESC", values
        )
        return [Resource(**{key: row[key] for key in row.keys()}) for row in rows]  # noqa: SIM118  # a Row iterates over its values

    def _new_id(self, user_id: str, chat_id: str, created_at: float) -> str:
        """Return an unused resource id. Call it within a transaction."""
        milliseconds = max(int(created_at * 1_000), self._last_milliseconds + 1)
        while self._database.rows(
            "SELECT 1 FROM resources WHERE id = ?", [new_id := native_id(user_id, chat_id, milliseconds)]
        ):
            milliseconds += 1  # taken by another process
        self._last_milliseconds = milliseconds
        return new_id


def native_id(user_id: str, chat_id: str, milliseconds: int) -> str:
    """Return the id `U_{user}_C_{chat}_T_{unix ms}`, limited to ASCII letters, digits and hyphens."""
    return f"U_{_id_part(user_id)}_C_{_id_part(chat_id)}_T_{milliseconds}"


def _id_part(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", text)[:ID_PART_LENGTH]
