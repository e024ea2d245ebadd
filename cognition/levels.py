"""The cognitive levels, and the levels that each policy allows."""

from typing import Final, Literal

Level = Literal["MODEL_LITE", "MODEL_FLASH", "MODEL_PRO"]
Role = Literal["MODEL_LITE", "MODEL_FLASH", "MODEL_PRO", "MODEL_DISTILLATION"]
Policy = Literal["AUTO", "AUTO_PRO", "MODEL_LITE", "MODEL_FLASH", "MODEL_PRO"]

TRANSFER_TOOL: Final = "new_cognitive_level"
"""The name of the tool that escalates a turn to a higher level."""

LEVELS: Final[tuple[Level, ...]] = ("MODEL_LITE", "MODEL_FLASH", "MODEL_PRO")
"""The levels, lowest first."""


def start_level(policy: Policy) -> Level:
    """Return the level at which a turn starts under a policy."""
    return "MODEL_LITE" if policy == "AUTO" or policy == "AUTO_PRO" else policy


def ceiling(policy: Policy) -> Level:
    """Return the highest level that a policy allows."""
    match policy:
        case "AUTO":
            return "MODEL_FLASH"
        case "AUTO_PRO":
            return "MODEL_PRO"
        case _:
            return policy


def targets(level: Level, policy: Policy) -> tuple[Level, ...]:
    """Return the levels that a model at `level` may escalate to: the higher ones, up to the ceiling."""
    return LEVELS[LEVELS.index(level) + 1 : LEVELS.index(ceiling(policy)) + 1]


def lower_levels(level: Level) -> tuple[Level, ...]:
    """Return the levels below `level`, nearest first, to fall back to when its model is unavailable."""
    return LEVELS[: LEVELS.index(level)][::-1]
