"""What a caller may give as a file: a path, contents, or a content block of a message."""

import binascii
import mimetypes
import re
import unicodedata
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from reprlib import repr as short_repr
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from langchain_core.messages import AnyMessage, HumanMessage

from cognition.storage.files import FileRejected, check_size
from cognition.storage.resources import ResourceType

NAME_BYTES: Final = 200
"""Of a name in UTF-8; file systems take 255."""
SUFFIX_BYTES: Final = 20

Item = Mapping[str, Any]
"""What stands for one file in the input of a graph or in a message."""


@dataclass(frozen=True)
class Attachment:
    """One file as it was given.

    Attributes:
        name: What it is called; only its plain characters are kept.
        source: Its content, or a path to it with every symlink resolved.
        resource_type: What the caller says it is and its content can't say: a note or a web address.
    """

    name: str
    source: Path | bytes
    resource_type: ResourceType | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", clean_name(self.name))


def read_attachment(item: Item, limit: int) -> Attachment:
    """The file that an item other than a path stands for.

    Args:
        item: `{"name", "mime", "data"}` with the content as base64, data URI or bytes, or a content block as
            LangChain, Studio or a provider writes it.
        limit: The most bytes that are taken.

    Raises:
        FileRejected: It is none of these, or too large.
    """
    block = _normal(item) if "type" in item else item
    mime = str(block.get("mime_type") or block.get("mime") or "")
    kind = str(block.get("type") or "file")
    name = clean_name(_name(block), kind, mime)
    if isinstance(text := block.get("text"), str):
        _refuse_blank(text)
        content = text.encode("utf-8", "replace")
        check_size(len(content), limit)
        return Attachment(name, content, "note" if kind == "text" else None)
    data = next((value for key in ("data", "base64") if (value := block.get(key)) is not None), None)
    url = block.get("url")
    if isinstance(url, str) and data is None:
        if re.match(r"https?://\S", url):
            return Attachment(
                name if _name(block) else clean_name(url), url.encode("utf-8", "replace"), "weburl"
            )
        data = url if url.startswith("data:") else None
    if not isinstance(data, str | bytes):
        msg = (
            f"{short_repr(dict(item))} holds no file: give a path, its contents as data, or a content block."
        )
        raise FileRejected(msg)
    return Attachment(name, _decoded(data, name, limit))


def clean_name(name: str, kind: str = "file", mime: str = "") -> str:
    """A file's name without folders, control characters and half characters, and not too long.

    Args:
        name: As it was given; may be blank.
        kind: What stands for a blank name.
        mime: The media type that a nameless file is said to be.
    """
    plain = "".join(
        char
        for char in unicodedata.normalize("NFC", name)
        if unicodedata.category(char) not in ("Cc", "Cs", "Cf")
    )
    last = PurePath(re.split(r"[/\\]", plain.rstrip("/\\"))[-1].strip())
    if not last.name.strip("."):
        return f"{kind}{mimetypes.guess_extension(mime) or ''}"
    suffix = last.suffix if len(last.suffix.encode()) <= SUFFIX_BYTES else ""
    stem = last.name.removesuffix(suffix).encode()[: NAME_BYTES - SUFFIX_BYTES].decode(errors="ignore")
    return stem + suffix


def attached(message: AnyMessage) -> list[dict[str, Any]]:
    """The content blocks of a user's message that are files, in their order."""
    if not isinstance(message, HumanMessage) or isinstance(message.content, str):
        return []
    return [block for block in message.content if isinstance(block, dict) and _is_file(block)]


def with_references(message: HumanMessage, references: Sequence[str]) -> HumanMessage:
    """The message with each of its files replaced by a text, under the same id.

    Args:
        message: A user's message.
        references: One text for each file of `attached`, in that order.
    """
    texts = iter(references)
    content = [
        {"type": "text", "text": next(texts)} if _is_file(block) else block for block in message.content
    ]
    return message.model_copy(update={"content": content}) if references else message


def _is_file(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") not in ("text", None)


def _normal(block: Item) -> Mapping[str, Any]:
    """A block of any provider in LangChain's own form."""
    match dict(block):
        # The three that LangChain leaves as they are, or breaks at.
        case {"type": "media", "data": data, **rest}:
            return {"type": "file", "base64": data, **rest}
        case {"type": "image_url", "image_url": str(url), **rest}:
            return {"type": "image", "url": url, **rest}
        case {"source_type": "text", "text": text, **rest}:
            return {**rest, "type": "text-plain", "text": text}
        case given:
            try:
                return dict(HumanMessage([given]).content_blocks[0])
            except (KeyError, TypeError, ValueError, AttributeError):
                msg = f"The content block {short_repr(given)} can't be read: give its content as base64."
                raise FileRejected(msg) from None


def _name(block: Item) -> str:
    """The name of a file, wherever a client puts it."""
    extras = _within(block, "extras")
    for place in (block, extras, _within(extras, "metadata"), _within(block, "metadata")):
        for key in ("filename", "name", "title"):
            if isinstance(name := place.get(key), str) and name.strip():
                return name
    return ""


def _within(block: Item, key: str) -> Item:
    """What a client puts under a key where a mapping is meant; it may be anything."""
    value = block.get(key)
    return value if isinstance(value, Mapping) else {}


def _refuse_blank(text: str) -> None:
    if not text.strip():
        msg = "The text is blank: there is nothing to keep."
        raise FileRejected(msg)


def _decoded(data: str | bytes, name: str, limit: int) -> bytes:
    if isinstance(data, bytes):
        check_size(len(data), limit)
        return data
    head, _, body = data.partition(",") if data.startswith("data:") else ("base64", ",", data)
    check_size(len(body) * 3 // 4 if head.endswith("base64") else len(body) // 3, limit)
    try:
        if not head.endswith("base64"):
            return unquote_to_bytes(body)
        plain = "".join(body.split()).translate(str.maketrans("-_", "+/"))
        return b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, UnicodeEncodeError, ValueError):
        msg = f"The contents of {name!r} are no base64: {short_repr(data)}."
        raise FileRejected(msg) from None
