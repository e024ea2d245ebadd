"""Text as every store can hold it."""


def clean(text: str) -> str:
    """The text without what breaks encoders: a NUL ends a C string, a lone surrogate is no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
