"""What a call costs, for the models whose list price is known."""

import json
from functools import cache
from importlib.resources import files


def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """The list price of a call in US dollars, or None for a model that the table doesn't know.

    `prices.json` holds dollars per million input and output tokens of the standard tier, read from the
    provider's public page in July 2026, without surcharges for long prompts or discounts for cached ones.

    Args:
        model: `provider:model`.
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of the answer, thoughts included.
    """
    price = _prices().get(model.partition(":")[2])
    return None if price is None else (input_tokens * price[0] + output_tokens * price[1]) / 1_000_000


@cache
def _prices() -> dict[str, tuple[float, float]]:
    text = files("cognition").joinpath("prices.json").read_text(encoding="utf-8")
    return {model: (float(row[0]), float(row[1])) for model, row in json.loads(text).items()}
