"""A number of things, in words."""


def pluralize(number: int, noun: str) -> str:
    """The number with its noun: 1 step, 2,000 steps."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
