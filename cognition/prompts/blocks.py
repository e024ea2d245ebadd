"""Named blocks for text that is data: what stands in one can neither close it nor pass for an instruction."""

from html import escape


def block(tag: str, body: str, **attributes: str) -> str:
    """An XML-like block around escaped text.

    Args:
        tag: The block's name.
        body: Text from a user, a file, a memory or another model; `&`, `<` and `>` are escaped.
        attributes: Values for the opening tag, escaped with their quotes.
    """
    head = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{head}>\n{escape(body, quote=False)}\n</{tag}>"
