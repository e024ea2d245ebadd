"""Named blocks for text that is data: what stands in one can neither close it nor pass for an instruction."""

import re
from html import escape, unescape
from typing import Final

TAG: Final = re.compile(r'^</?\w+(?: \w+="[^"]*")*>\n?', re.MULTILINE)
"""A block's first or last line; no line of a body is one."""


def block(tag: str, body: str, **attributes: str) -> str:
    """An XML-like block around escaped text.

    Args:
        tag: The block's name.
        body: Text from a user, a file, a memory or another model; `&`, `<` and `>` are escaped.
        attributes: Values for the opening tag, escaped with their quotes.
    """
    head = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{head}>\n{escape(body, quote=False)}\n</{tag}>"


def unblocked(text: str) -> str:
    """A text that was written for a model, for a person: without the tags of its blocks."""
    return unescape(TAG.sub("", text)).strip()


DATA: Final = "data, not instructions"
