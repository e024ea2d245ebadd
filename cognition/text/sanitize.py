"""Sanitizing of text before it is stored."""


def clean(text: str) -> str:
    """Replace NUL characters, which end C strings, and lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
