"""The ids and names of chats on the command line."""

import asyncio
import json
import shlex
from collections.abc import Mapping
from reprlib import repr as short_repr
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from cognition.errors import InvalidInput
from cognition.services import Services
from cognition.sessions import is_known
from cognition.settings import Settings, process_settings
from cognition.storage.chats import ChatTable
from cognition.storage.sqlite.database import Database
from cognition.text.sanitize import clean

LONGEST_NAME: Final = 60
"""Maximum length of a chat's name in a listing, in characters. Longer ones are cut and followed by the id."""


def new_chat() -> str:
    """Return the id of a new chat."""
    return str(uuid4())


def thread_of(user: str, chat: str) -> str:
    """Return a chat's thread id: the chat itself if it is a UUID, else an id derived from the user and name.

    Raises:
        InvalidInput: If the chat is blank or contains characters that can't be stored.
    """
    if not chat.strip() or clean(chat) != chat:
        msg = f"Invalid chat {short_repr(chat)}: expected a chat id, or a name of letters and digits."
        raise InvalidInput(msg)
    return _uuid(chat) or str(uuid5(NAMESPACE_URL, f"cognition:{json.dumps([user, chat])}"))


def chat_fields(user: str, chat: str) -> dict[str, str]:
    """Return the id and the name of a chat. The name is empty if the chat was given by its id."""
    return {"chat_id": thread_of(user, chat), "chat_name": "" if _uuid(chat) else chat}


def chat_label(row: Mapping[str, Any]) -> str:
    """Return the label of a chat in a listing: the name its user gave it, or its id."""
    name, chat_id = row["chat_name"], str(row["chat_id"])
    line = " ".join(name.split())
    if line == name and len(name) <= LONGEST_NAME:
        return name or chat_id
    return f"{line[:LONGEST_NAME]}… ({chat_id})"


def check_known(user: str, chat: str) -> None:
    """Check that a user has a chat.

    This always runs in the current process, because several processes can read the databases at once.

    Raises:
        InvalidInput: If the user has no such chat or is blank.
    """
    if not asyncio.run(_is_known(process_settings(), user, thread_of(user, chat))):
        label = chat_label(chat_fields(user, chat))
        msg = (
            f"Unknown chat {label!r} of user {user!r}. `cognition sessions list` shows the chats that hold "
            f"files, sources or sub-agents; `{resume_command(chat)}` starts this one."
        )
        raise InvalidInput(msg)


async def _is_known(settings: Settings, user: str, chat_id: str) -> bool:
    services = Services(settings)
    try:
        return await is_known(services, user, chat_id)
    finally:
        await services.aclose()


def resume_command(chat: str) -> str:
    """Return the shell command that resumes a chat."""
    return f"cognition chat --chat {shlex.quote(chat)}"


async def save_chat_name(settings: Settings, user: str, chat: str) -> None:
    """Save the name of a chat that receives a message or a file.

    This always runs in the current process, because several processes can write to the database.

    Raises:
        InvalidInput: If the user is blank or the chat is invalid.
    """
    if (fields := chat_fields(user, chat))["chat_name"]:
        await asyncio.to_thread(_save_name, settings, user, **fields)


def _save_name(settings: Settings, user: str, chat_id: str, chat_name: str) -> None:
    database = Database(settings.home)
    try:
        ChatTable(database).name(user, chat_id, chat_name)
    finally:
        database.close()


def _uuid(chat: str) -> str:
    """Return the chat's id if it is given by its id, or an empty string if it is given by its name."""
    try:
        return str(UUID(chat))
    except ValueError:
        return ""
