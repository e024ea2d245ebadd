"""The identity of a user and a chat, checked before anything is read or written."""

from dataclasses import dataclass
from reprlib import repr as short_repr

from cognition.errors import InvalidInput


def check_user(user_id: object) -> None:
    """Check a user id. A missing user must never mean all users.

    Raises:
        InvalidInput: If the user is blank, not a string, or not valid Unicode.
    """
    if not isinstance(user_id, str) or not user_id.strip():
        msg = f"Invalid user {user_id!r}: expected a user id that is not blank."
        raise InvalidInput(msg)
    check_unicode("user", user_id)


def check_unicode(kind: str, id_: str) -> None:
    """Check that an id can be stored as UTF-8.

    Args:
        kind: The kind of id to name in the message, such as "user".
        id_: The id.

    Raises:
        InvalidInput: If the id contains a lone surrogate, which UTF-8 cannot encode.
    """
    try:
        id_.encode()
    except UnicodeEncodeError as error:
        msg = f"Invalid {kind} {short_repr(id_)}: expected valid Unicode, without lone surrogates."
        raise InvalidInput(msg) from error


def check_chat(user_id: object, chat_id: object) -> None:
    """Check a user id and a chat id.

    Raises:
        InvalidInput: If one of them is blank, not a string, or not valid Unicode.
    """
    check_user(user_id)
    if not isinstance(chat_id, str) or not chat_id.strip():
        msg = (
            f"Invalid chat {chat_id!r}: expected a chat id that is not blank. Run the graph on a thread, "
            "with a thread_id in its config."
        )
        raise InvalidInput(msg)
    check_unicode("chat", chat_id)


@dataclass(frozen=True)
class Identity:
    """The user and chat whose data a step may access. Set by the run, never by a model."""

    user_id: str
    chat_id: str
