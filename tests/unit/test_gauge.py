"""The context gauge."""

from langchain_core.messages import AIMessage, HumanMessage

from cognition.gauge import filled


def answer(total: int) -> AIMessage:
    usage = {"input_tokens": total - 1, "output_tokens": 1, "total_tokens": total}
    return AIMessage("Yes.", usage_metadata=usage)


def test_the_providers_count_goes_before_an_estimate() -> None:
    counted = [HumanMessage("x" * 40_000), answer(300)]
    assert filled(counted, 1_000) == 0.3
    assert filled(counted[:1], 10_000) > 0.9


def test_what_was_said_since_the_last_count_is_added() -> None:
    messages = [HumanMessage("Hi"), answer(300), HumanMessage("y" * 2_000)]
    assert 0.79 < filled(messages, 1_000) < 0.82


def test_an_empty_thread_fills_nothing() -> None:
    assert filled([], 1_000) == 0
