"""Token estimates without a tokenizer."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text as a quarter of its UTF-8 bytes, which fits Latin and CJK scripts."""
    return -(-len(text.encode("utf-8", "replace")) // 4)
