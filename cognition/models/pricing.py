"""The cost of model calls, for models with a known list price."""

import json
from importlib.resources import files
from typing import Final

PRICES: Final[dict[str, tuple[float, float]]] = json.loads(
    files("cognition.models").joinpath("prices.json").read_bytes()
)
"""US dollars per million input and output tokens, by model.

Standard tier, from the provider's public price list in July 2026, without surcharges for long prompts or
discounts for cached ones. Loaded at import, because the graph nodes that need it run on an event loop.
"""


def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return the list price of a call in US dollars; None if the model is not in the list.

    Args:
        model: The `provider:model`.
        input_tokens: Number of prompt tokens.
        output_tokens: Number of answer tokens, thoughts included.
    """
    price = PRICES.get(model.partition(":")[2])
    return None if price is None else (input_tokens * price[0] + output_tokens * price[1]) / 1_000_000
