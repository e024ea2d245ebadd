"""Who a call is for: users and chats, checked before anything is read or written."""

from dataclasses import dataclass
from reprlib import repr as short_repr

from cognition.errors import InvalidInput


def check_user(user_id: object) -> None:
    """Refuse a user that is nobody: a missing user must never mean everybody.

    Raises:
        InvalidInput: The user is blank, not a text, or holds what UTF-8 cannot.
    """
    if not isinstance(user_id, str) or not user_id.strip():
        msg = f"The user {user_id!r} is blank: memories are read and written for one user at a time."
        raise InvalidInput(msg)
    check_whole("user", user_id)


def check_whole(what: str, id_: str) -> None:
    """Refuse an id that can't be stored.

    Args:
        what: Whose id it is.
        id_: The id.

    Raises:
        InvalidInput: It holds half a character, which UTF-8 cannot.
    """
    try:
        id_.encode()
    except UnicodeEncodeError as error:
        msg = f"The {what} {short_repr(id_)} holds half a character: pass its id as valid Unicode."
        raise InvalidInput(msg) from error


def check_chat(user_id: object, chat_id: object) -> None:
    """Refuse a user or a chat that is none.

    Raises:
        InvalidInput: One of them is blank, not a text, or holds what UTF-8 cannot.
    """
    check_user(user_id)
    if not isinstance(chat_id, str) or not chat_id.strip():
        msg = f"The chat {chat_id!r} is blank: run the graph on a thread, with a thread_id in its config."
        raise InvalidInput(msg)
    check_whole("chat", chat_id)


@dataclass(frozen=True)
class Identity:
    """Whose data a step may touch. It comes from the run, never from a model."""

    user_id: str
    chat_id: str
