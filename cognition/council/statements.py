"""Conversion of an expert's answer or failure to a statement in the record of a council."""

from typing import Final

from cognition.council.positions import Position, read_position
from cognition.models.outcome import Answer, Failure, is_truncated
from cognition.state.council import Statement
from cognition.state.turn import Tokens, tokens_of
from cognition.text.truncate import shorten

KEPT_CHARACTERS: Final = 20_000
"""Maximum characters of a contribution to keep, about eight times the requested length."""

REASON_CHARACTERS: Final = 400
"""Maximum characters of the reason for an absence; a provider's error may be a whole page."""


def statement_of(outcome: Answer | Failure, alias: str, round_number: int) -> Statement:
    """Return a participant's statement in a round, or the record of its absence."""
    if isinstance(outcome, Failure):
        return _statement(alias, round_number, outcome, absence=shorten(outcome.sentence, REASON_CHARACTERS))
    text, position = read_position(outcome.text)
    if not (contribution := text or position.position):
        return _statement(alias, round_number, outcome, absence=f"{outcome.model} returned no text.")
    if is_truncated(outcome.message):
        contribution += "\n[… cut off at the model's output limit …]"
    return _statement(alias, round_number, outcome, contribution, position)


def _statement(
    alias: str,
    round_number: int,
    outcome: Answer | Failure,
    text: str = "",
    position: Position | None = None,
    absence: str = "",
) -> Statement:
    position = position or Position()
    return Statement(
        round=round_number,
        alias=alias,
        text=shorten(text, KEPT_CHARACTERS),
        stance=position.stance,
        position=position.position,
        confidence=position.confidence,
        absence=absence,
        cut=max(len(text) - KEPT_CHARACTERS, 0),
        model=outcome.model,
        calls=outcome.calls,
        tokens=tokens_of(outcome) if isinstance(outcome, Answer) else Tokens(input=0, output=0),
        seconds=round(outcome.seconds, 3),
    )
