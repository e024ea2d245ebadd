"""Failures of models, tools and budgets, as users see them; the thread works on the next turn."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ChatMessage, FunctionMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from cognition.concurrency.event_loop import wait_for
from cognition.context import BoundContext
from cognition.rehearsal import Call, RehearsalServer, Reply
from cognition.services import Services
from graphs.echo import graph
from tests.conftest import FLASH, LITE, PRO
from tests.graphs.test_echo_levels import account, ask, climb


async def test_p6_what_the_provider_withholds_is_told_and_not_retried(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [Reply(failure="blocked")])
    answer = (await graph.ainvoke(ask("Hi"), context=context))["messages"][-1]
    assert "withheld" in answer.text
    assert account(answer)["error"] == "blocked"
    assert len(rehearsal.requests) == 1


@pytest.mark.parametrize("failure", ["malformed", "empty"])
async def test_p6_a_malformed_or_empty_answer_is_asked_for_once_more(
    failure: Any, rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [Reply(failure=failure), Reply(text="Now.")])
    events = []
    async for mode, part in graph.astream(ask("Hi"), context=context, stream_mode=["custom", "values"]):
        events.append(part)
        assert mode
    assert events[-1]["messages"][-1].text == "Now."
    assert any(isinstance(e, dict) and e.get("type") == "retry" for e in events)


async def test_p6_a_truncated_answer_is_kept_and_marked(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [Reply(text="It begins", failure="max_tokens")])
    answer = (await graph.ainvoke(ask("Hi"), context=context))["messages"][-1]
    assert (answer.text, account(answer)["truncated"]) == ("It begins", True)


async def test_p9_the_servers_delay_is_respected_and_a_400_is_not_retried(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [Reply(failure="rate_limit", retry_after=0.01), Reply(text="Late.")])
    assert (await graph.ainvoke(ask("Hi"), context=context))["messages"][-1].text == "Late."
    assert len(rehearsal.requests) == 2


async def test_p9_a_delay_beyond_the_budget_fails_at_once(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(call_seconds=5))
    rehearsal.script(LITE, [Reply(failure="rate_limit", retry_after=60)])
    context = BoundContext(bound=services, policy="MODEL_LITE")
    answer = (await graph.ainvoke(ask("Hi"), context=context))["messages"][-1]
    assert account(answer)["error"] == "unavailable"
    assert len(rehearsal.requests) == 1
    await services.aclose()


async def test_p10_a_level_that_is_down_falls_back_for_this_call_only(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    down = Reply(failure="rate_limit", retry_after=0.01)
    rehearsal.script(LITE, [climb("MODEL_PRO")])
    rehearsal.script(PRO, [down, down, down, Reply(text="PRO again.")])
    rehearsal.script(FLASH, [Reply(text="FLASH stands in.")])
    answer = (await graph.ainvoke(ask("Go"), context=context))["messages"][-1]
    told = account(answer)
    assert (answer.text, told["level"]) == ("FLASH stands in.", "MODEL_FLASH")
    assert told["fallbacks"] == [f"google_genai:{PRO}"]
    rehearsal.script(LITE, [climb("MODEL_PRO")])
    answer = (await graph.ainvoke(ask("Go"), context=context))["messages"][-1]
    assert answer.text == "PRO again."


async def test_p10_a_fixed_policy_does_not_fall_back(rehearsal: RehearsalServer, services: Services) -> None:
    rehearsal.script(PRO, [Reply(failure="rate_limit", retry_after=0.01)])
    context = BoundContext(bound=services, policy="MODEL_PRO")
    answer = (await graph.ainvoke(ask("Go"), context=context))["messages"][-1]
    assert account(answer)["error"] == "unavailable"
    assert {request.model for request in rehearsal.requests} == {PRO}


async def test_p11_a_stream_that_stalls_ends_at_the_total_limit(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(call_seconds=0.5))
    rehearsal.script(LITE, [Reply(text="abc", failure="stall")])
    context = BoundContext(bound=services, policy="MODEL_LITE")
    async for state in graph.astream(ask("Hi"), context=context, stream_mode="values"):
        answer = state["messages"][-1]
    assert "took more than" in answer.text
    await services.aclose()


async def test_p21_every_call_is_answered_and_the_thread_works_on(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    wrong = [Call("no_such_tool"), Call("update_meta_artifact", {"fact": "no name"})]
    rehearsal.script(LITE, [Reply(calls=wrong), Reply(text="Sorry."), Reply(text="Fine.")])
    messages = (await echo.ainvoke(ask("Go"), config, context=context))["messages"]
    assert [m.type for m in messages] == ["human", "ai", "tool", "tool", "ai"]
    assert all("Error" in m.text for m in messages[2:4])
    answer = (await echo.ainvoke(ask("And now?"), config, context=context))["messages"][-1]
    assert answer.text == "Fine."


async def test_p21_a_tool_that_raises_is_told_to_the_model_and_the_thread_works_on(
    rehearsal: RehearsalServer, context: BoundContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    fact = {"artifact_name": "Profil d'Alignement", "fact": "I live in Lyon."}
    call = Reply(calls=[Call("update_meta_artifact", fact)])
    rehearsal.script(
        LITE, [Reply(text="Hello."), call, Reply(text="Your disk is full."), Reply(text="Fine.")]
    )
    await echo.ainvoke(ask("Hi"), config, context=context)
    monkeypatch.setattr("cognition.storage.disk.free_space.MIN_FREE_BYTES", 1 << 62)
    messages = (await echo.ainvoke(ask("I live in Lyon."), config, context=context))["messages"]
    assert "MB free" in messages[-2].text
    assert messages[-2].status == "error"
    answer = (await echo.ainvoke(ask("And now?"), config, context=context))["messages"][-1]
    assert answer.text == "Fine."


async def test_p21_a_wrong_call_is_not_quoted_back_without_end(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    long = "x" * 200_000
    wrong = [
        Call("search_meta_artifacts", {"query": long, "limit": "many"}),
        Call("new_cognitive_level", {"target_model": long, "transfer_plan": long}),
    ]
    rehearsal.script(LITE, [Reply(calls=wrong), Reply(text="Sorry.")])
    messages = (await graph.ainvoke(ask("Go"), context=context))["messages"]
    assert "limit" in messages[2].text
    assert "expected one of MODEL_FLASH, MODEL_PRO" in messages[3].text
    assert max(len(message.text) for message in messages[2:4]) < 1_500


async def test_p27_a_number_that_no_checkpoint_can_hold_is_asked_for_again(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    huge = Reply(calls=[Call("search_meta_artifacts", {"query": "tea", "limit": [1e300]})])
    rehearsal.script(LITE, [huge, Reply(text="Hello."), huge])
    answer = (await echo.ainvoke(ask("Hi"), config, context=context))["messages"][-1]
    assert answer.text == "Hello."
    answer = (await echo.ainvoke(ask("Again"), config, context=context))["messages"][-1]
    assert account(answer)["error"] == "malformed"


async def test_p22_spent_calls_end_the_turn_with_an_answer_that_says_so(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(max_model_calls=3))
    loop = Reply(text="Looking.", calls=[Call("search_meta_artifacts", {})])
    rehearsal.script(LITE, [loop, loop, Reply(text="The best I have.")])
    answer = (await graph.ainvoke(ask("Go"), context=BoundContext(bound=services)))["messages"][-1]
    assert answer.text.startswith("The best I have.")
    assert "cut short" in answer.text
    assert rehearsal.requests[-1].tools == {}
    assert account(answer)["cut"]
    await services.aclose()


async def test_p22_spent_time_keeps_the_best_text_so_far(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(turn_seconds=0.05))
    rehearsal.script(LITE, [Reply(text="Found half.", calls=[Call("search_meta_artifacts", {})])])
    rehearsal.script(
        LITE, lambda request: Reply(text="Half.", calls=[Call("search_meta_artifacts")], latency=0.04)
    )
    answer = (await graph.ainvoke(ask("Go"), context=BoundContext(bound=services)))["messages"][-1]
    assert answer.text
    await services.aclose()


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_p4_a_blank_message_is_refused_and_poisons_nothing(
    text: str, rehearsal: RehearsalServer, context: BoundContext
) -> None:
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    rehearsal.script(LITE, [Reply(text="Hello.")])
    with pytest.raises(ValueError, match="non-blank"):
        await echo.ainvoke(ask(text), config, context=context)
    answer = (await echo.ainvoke(ask("Hi"), config, context=context))["messages"][-1]
    assert answer.text == "Hello."


WEIRD: list[Any] = [
    {"type": "hologram", "x": 1},
    {"type": "image"},
    {"type": "image_url", "image_url": {"url": "not a url"}},
]


@pytest.mark.parametrize("part", WEIRD, ids=lambda part: str(part["type"]))
async def test_p4_a_part_that_no_client_can_send_poisons_nothing(
    part: Any, rehearsal: RehearsalServer, context: BoundContext
) -> None:
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    rehearsal.script(LITE, [Reply(text="I can't see it."), Reply(text="Still here.")])
    shown: Any = {"messages": [HumanMessage([{"type": "text", "text": "Look."}, part])]}
    assert (await echo.ainvoke(shown, config, context=context))["messages"][-1].text == "I can't see it."
    answer = (await echo.ainvoke(ask("And now?"), config, context=context))["messages"][-1]
    assert answer.text == "Still here."
    assert rehearsal.requests[-1].texts[0].startswith("Look.")


@pytest.mark.parametrize("stranger", [FunctionMessage("x", name="f"), ChatMessage("x", role="critic")])
async def test_p4_a_message_of_no_known_kind_is_not_sent(
    stranger: Any, rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [Reply(text="Hello.")])
    thread = {"messages": [HumanMessage("Hi"), stranger, HumanMessage("Hello?")]}
    assert (await graph.ainvoke(thread, context=context))["messages"][-1].text == "Hello."


async def test_p52_half_a_character_and_a_nul_are_sent_as_what_a_request_can_hold(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [Reply(text="Fine.")])
    answer = (await graph.ainvoke(ask("caf\udcff\0 ?"), context=context))["messages"][-1]
    assert answer.text == "Fine."


@pytest.mark.parametrize("wrong", [{"policy": "BEST"}, {"policy": None}, {"memory": "maybe"}, {"memory": ""}])
async def test_a_context_that_names_no_policy_and_no_switch_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"Invalid {next(iter(wrong))} .* in the context: expected"):
        await graph.ainvoke(ask("Hi"), context=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("user", ["", "  "])
async def test_p47_a_blank_user_is_refused(user: str, rehearsal: RehearsalServer, services: Services) -> None:
    with pytest.raises(ValueError, match="blank"):
        await graph.ainvoke(ask("Hi"), context=BoundContext(user_id=user, bound=services))
    assert rehearsal.requests == []


async def test_a_wrong_key_is_the_callers_fault_and_says_so(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(model_lite="google_genai:nonsense-1"))
    answer: AIMessage = (await graph.ainvoke(ask("Hi"), context=BoundContext(bound=services)))["messages"][-1]
    assert "rejected the request" in answer.text
    assert "nonsense-1" in answer.text
    await services.aclose()


def test_invoke_works_as_ainvoke_does(rehearsal: RehearsalServer, make_settings: Any) -> None:
    services = Services(make_settings())
    rehearsal.script(LITE, [Reply(calls=[Call("search_meta_artifacts", {})]), Reply(text="Nothing yet.")])
    result = graph.invoke(
        {"messages": [HumanMessage("What do you know?")]}, context=BoundContext(bound=services)
    )
    assert result["messages"][-1].text == "Nothing yet."
    wait_for(services.aclose())
