"""Parsing of files in requests: inline data and the content blocks of messages."""

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
"""Maximum bytes of a file name in UTF-8; file systems allow 255."""
SUFFIX_BYTES: Final = 20
"""Maximum bytes of a file name's suffix; a longer one is treated as part of the stem."""

Item = Mapping[str, Any]
"""One file in the input of a graph or in a message."""


@dataclass(frozen=True)
class Attachment:
    """One file of a request.

    Attributes:
        name: Its name; cleaned with `clean_name`.
        source: Its content, or a path with all symlinks resolved.
        resource_type: The type, for a note or a web address, which cannot be detected from the content.
    """

    name: str
    source: Path | bytes
    resource_type: ResourceType | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", clean_name(self.name))


def read_attachment(item: Item, limit: int) -> Attachment:
    """Parse an item that carries its content rather than a path.

    Args:
        item: `{"name", "mime", "data"}` with the content as base64, data URI or bytes, or a content block in
            the format of LangChain, Studio or a provider.
        limit: Maximum size in bytes.

    Raises:
        FileRejected: If the item has none of these formats or is too large.
    """
    block = _standard_block(item) if "type" in item else item
    mime = str(block.get("mime_type") or block.get("mime") or "")
    kind = str(block.get("type") or "file")
    name = clean_name(_name(block), kind, mime)
    if isinstance(text := block.get("text"), str):
        _check_not_blank(text)
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
        msg = f"Invalid file {short_repr(dict(item))}: expected a path, content as data, or a content block."
        raise FileRejected(msg)
    return Attachment(name, _decode(data, name, limit))


def clean_name(name: str, kind: str = "file", mime: str = "") -> str:
    """Return a file name without folders, control characters or lone surrogates, shortened if too long.

    Args:
        name: The original name; may be blank.
        kind: The name to use if the original is blank.
        mime: The media type that determines the extension if the original is blank.
    """
    printable = "".join(
        char
        for char in unicodedata.normalize("NFC", name)
        if unicodedata.category(char) not in ("Cc", "Cs", "Cf")
    )
    file = PurePath(re.split(r"[/\\]", printable.rstrip("/\\"))[-1].strip())
    if not file.name.strip("."):
        return f"{kind}{mimetypes.guess_extension(mime) or ''}"
    suffix = file.suffix if len(file.suffix.encode()) <= SUFFIX_BYTES else ""
    stem = file.name.removesuffix(suffix).encode()[: NAME_BYTES - SUFFIX_BYTES].decode(errors="ignore")
    return stem + suffix


def file_blocks(message: AnyMessage) -> list[dict[str, Any]]:
    """Return the content blocks of a user's message that are files, in order."""
    if not isinstance(message, HumanMessage) or isinstance(message.content, str):
        return []
    return [block for block in message.content if isinstance(block, dict) and _is_file(block)]


def with_references(message: HumanMessage, references: Sequence[str]) -> HumanMessage:
    """Return a copy of a message, with the same id, in which each file is replaced by a text.

    Args:
        message: A user's message.
        references: One text for each block that `file_blocks` returns, in the same order.
    """
    texts = iter(references)
    content = [
        {"type": "text", "text": next(texts)} if _is_file(block) else block for block in message.content
    ]
    return message.model_copy(update={"content": content}) if references else message


def _is_file(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") not in ("text", None)


def _standard_block(block: Item) -> Mapping[str, Any]:
    """Convert a provider's block to LangChain's standard format."""
    match dict(block):
        # LangChain does not convert these three, or fails on them.
        case {"type": "media", "data": data, **rest}:
            return {"type": "file", "base64": data, **rest}
        case {"type": "image_url", "image_url": str(url), **rest}:
            return {"type": "image", "url": url, **rest}
        case {"source_type": "text", "text": text, **rest}:
            return {**rest, "type": "text-plain", "text": text}
        case other:
            try:
                return dict(HumanMessage([other]).content_blocks[0])
            except (KeyError, TypeError, ValueError, AttributeError):
                msg = f"Unsupported content block {short_repr(other)}: give the file's content as base64."
                raise FileRejected(msg) from None


def _name(block: Item) -> str:
    """Return the file's name from any of the keys that clients use, or an empty string."""
    extras = _mapping(block, "extras")
    for fields in (block, extras, _mapping(extras, "metadata"), _mapping(block, "metadata")):
        for key in ("filename", "name", "title"):
            if isinstance(name := fields.get(key), str) and name.strip():
                return name
    return ""


def _mapping(block: Item, key: str) -> Item:
    """Return the mapping under a key; empty if a client sent anything else there."""
    value = block.get(key)
    return value if isinstance(value, Mapping) else {}


def _check_not_blank(text: str) -> None:
    if not text.strip():
        msg = "The text is blank. Give a text with at least one visible character."
        raise FileRejected(msg)


def _decode(data: str | bytes, name: str, limit: int) -> bytes:
    if isinstance(data, bytes):
        check_size(len(data), limit)
        return data
    head, _, body = data.partition(",") if data.startswith("data:") else ("base64", ",", data)
    check_size(len(body) * 3 // 4 if head.endswith("base64") else len(body) // 3, limit)
    try:
        if not head.endswith("base64"):
            return unquote_to_bytes(body)
        standard = "".join(body.split()).translate(str.maketrans("-_", "+/"))
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, UnicodeEncodeError, ValueError):
        msg = f"The content of {name!r} is not valid base64: {short_repr(data)}."
        raise FileRejected(msg) from None
