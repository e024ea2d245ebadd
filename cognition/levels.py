"""The levels of thought and which of them a policy allows."""

from typing import Final, Literal

Level = Literal["MODEL_LITE", "MODEL_FLASH", "MODEL_PRO"]
Role = Literal["MODEL_LITE", "MODEL_FLASH", "MODEL_PRO", "MODEL_DISTILLATION"]
Policy = Literal["AUTO", "AUTO_PRO", "MODEL_LITE", "MODEL_FLASH", "MODEL_PRO"]

TRANSFER_TOOL: Final = "new_cognitive_level"
"""The name of the tool by which a model asks for a higher level."""

LEVELS: Final[tuple[Level, ...]] = ("MODEL_LITE", "MODEL_FLASH", "MODEL_PRO")


def start_level(policy: Policy) -> Level:
    """Where a turn starts under a policy."""
    return "MODEL_LITE" if policy == "AUTO" or policy == "AUTO_PRO" else policy


def ceiling(policy: Policy) -> Level:
    """The highest level that a policy allows."""
    match policy:
        case "AUTO":
            return "MODEL_FLASH"
        case "AUTO_PRO":
            return "MODEL_PRO"
        case _:
            return policy


def targets(level: Level, policy: Policy) -> tuple[Level, ...]:
    """The levels that a model at `level` may hand the turn to: higher ones, up to the ceiling."""
    return LEVELS[LEVELS.index(level) + 1 : LEVELS.index(ceiling(policy)) + 1]


def lower_levels(level: Level) -> tuple[Level, ...]:
    """The levels under `level`, nearest first: where a call falls back when its own level is down."""
    return LEVELS[: LEVELS.index(level)][::-1]
