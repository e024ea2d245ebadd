"""Which chat a user means on the command line, and what it is called there."""

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
"""Characters of a chat's name in a line; a longer one stands there with the chat's id."""


def new_chat() -> str:
    """The id of a new chat."""
    return str(uuid4())


def thread_of(user: str, chat: str) -> str:
    """The thread behind a chat: its id when that is a UUID, else always the same for a user's name of it.

    Raises:
        InvalidInput: The name is blank or no text.
    """
    if not chat.strip() or clean(chat) != chat:
        msg = f"The chat {short_repr(chat)} is none: name it with letters or digits, or leave it out."
        raise InvalidInput(msg)
    return _id(chat) or str(uuid5(NAMESPACE_URL, f"cognition:{json.dumps([user, chat])}"))


def chat_fields(user: str, chat: str) -> dict[str, str]:
    """The id of a chat, and the name by which it is meant; that is empty when it is meant by its id."""
    return {"chat_id": thread_of(user, chat), "chat_name": "" if _id(chat) else chat}


def chat_label(told: Mapping[str, Any]) -> str:
    """What a chat is called in a line of a listing: as its user named it, else its id."""
    name, chat_id = told["chat_name"], str(told["chat_id"])
    line = " ".join(name.split())
    if line == name and len(name) <= LONGEST_NAME:
        return name or chat_id
    return f"{line[:LONGEST_NAME]}… ({chat_id})"


def check_known(user: str, chat: str) -> None:
    """Refuse a chat that a user doesn't have, for what is asked about it.

    This is looked up from here whoever holds the folder: several processes may have its databases open.

    Raises:
        InvalidInput: The user has no such chat, or is blank.
    """
    if not asyncio.run(_is_known(process_settings(), user, thread_of(user, chat))):
        named = chat_label(chat_fields(user, chat))
        msg = (
            f"{user!r} has no chat {named!r}: `cognition sessions list` shows those that hold something, and "
            f"`{resume_command(chat)}` begins it."
        )
        raise InvalidInput(msg)


async def _is_known(settings: Settings, user: str, chat_id: str) -> bool:
    services = Services(settings)
    try:
        return await is_known(services, user, chat_id)
    finally:
        await services.aclose()


def resume_command(chat: str) -> str:
    """The command by which a chat goes on, as a shell takes it."""
    return f"cognition chat --chat {shlex.quote(chat)}"


async def save_chat_name(settings: Settings, user: str, chat: str) -> None:
    """Keep the name of a chat in which something is said, or which is given something.

    It is kept from here whoever holds the folder: several processes may have its database open.

    Raises:
        InvalidInput: The user is blank, or the chat is none.
    """
    if (told := chat_fields(user, chat))["chat_name"]:
        await asyncio.to_thread(_keep, settings, user, **told)


def _keep(settings: Settings, user: str, chat_id: str, chat_name: str) -> None:
    database = Database(settings.home)
    try:
        ChatTable(database).name(user, chat_id, chat_name)
    finally:
        database.close()


def _id(chat: str) -> str:
    """The id that a chat is meant by; empty for a name."""
    try:
        return str(UUID(chat))
    except ValueError:
        return ""
