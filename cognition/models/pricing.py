"""What a call costs, for the models whose list price is known."""

import json
from importlib.resources import files
from typing import Final

PRICES: Final[dict[str, tuple[float, float]]] = json.loads(
    files("cognition.models").joinpath("prices.json").read_bytes()
)
"""Read at import, because the steps that ask for a price run on an event loop.

Dollars per million input and output tokens of the standard tier, from the provider's public page in July
2026, without surcharges for long prompts or discounts for cached ones.
"""


def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """The list price of a call in US dollars, or None for a model that the table doesn't know.

    Args:
        model: `provider:model`.
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of the answer, thoughts included.
    """
    price = PRICES.get(model.partition(":")[2])
    return None if price is None else (input_tokens * price[0] + output_tokens * price[1]) / 1_000_000
