"""The size of a text in tokens."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes: a quarter of its UTF-8 bytes, for Latin and CJK scripts alike."""
    return -(-len(text.encode("utf-8", "replace")) // 4)
