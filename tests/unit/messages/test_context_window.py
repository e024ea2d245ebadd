"""The fill level of the context."""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from cognition.messages.context_window import TRIMMED_FROM, TRIMMED_TO, filled, turns_in_prompt
from cognition.messages.history import message_tokens


def answer(total: int) -> AIMessage:
    usage = {"input_tokens": total - 1, "output_tokens": 1, "total_tokens": total}
    return AIMessage("Yes.", usage_metadata=usage)


def test_the_providers_count_is_preferred_to_an_estimate() -> None:
    counted: list[AnyMessage] = [HumanMessage("x" * 40_000), answer(300)]
    assert filled(counted, 1_000) == 0.3
    assert filled(counted[:1], 10_000) > 0.9


def test_messages_since_the_last_count_are_added() -> None:
    messages: list[AnyMessage] = [HumanMessage("Hi"), answer(300), HumanMessage("y" * 2_000)]
    assert 0.79 < filled(messages, 1_000) < 0.82


def test_an_empty_thread_fills_nothing() -> None:
    assert filled([], 1_000) == 0


def test_turns_leave_at_60_percent_and_the_start_of_the_prompt_then_stays_the_same() -> None:
    window = 10_000
    turns: list[list[AnyMessage]] = []
    beginnings: list[int] = []
    for number in range(60):
        turns.append([HumanMessage(f"{number} " + "x" * 800), answer(300)])
        kept = turns_in_prompt(turns, window)
        used = sum(message_tokens(message) for turn in kept for message in turn)
        assert kept == turns[-len(kept) :]
        assert used < TRIMMED_FROM * window
        assert len(kept) == len(turns) or used > (TRIMMED_TO - 0.05) * window
        beginnings.append(len(turns) - len(kept))
    assert beginnings[27] == 0
    assert beginnings == sorted(beginnings)
    assert len(set(beginnings)) < 8


def test_the_newest_turn_stays_however_long() -> None:
    turns: list[list[AnyMessage]] = [[HumanMessage("x" * 9_000)] for _ in range(3)]
    assert turns_in_prompt(turns, 1_000) == turns[-1:]
    assert turns_in_prompt([], 1_000) == []
