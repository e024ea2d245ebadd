"""Transfers between levels, as a client sees them."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.rehearsal import Call, RehearsalServer, Reply
from cognition.services import Services
from graphs.echo import graph
from tests.conftest import FLASH, LITE, PRO

PLAN = "## Objective\nprove it\n## What is left\nall"


def ask(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def climb(target: str, **more: Any) -> Reply:
    call = Call("new_cognitive_level", {"target_model": target, "transfer_plan": PLAN})
    return Reply(calls=[call, *more.pop("beside", ())], **more)


def account(message: AIMessage) -> dict[str, Any]:
    return message.response_metadata["cognition"]


async def test_p76_a_turn_starts_and_ends_on_the_light_model_and_says_so(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [Reply(text="Bonjour.")])
    answer = (await graph.ainvoke(ask("Salut"), context=context))["messages"][-1]
    assert answer.text == "Bonjour."
    told = account(answer)
    assert (told["level_start"], told["level"], told["transfers"]) == ("MODEL_LITE", "MODEL_LITE", 0)
    assert told["model"] == f"google_genai:{LITE}"
    assert told["calls"] == {"MODEL_LITE": 1}
    assert told["tokens"]["MODEL_LITE"]["output"] > 0
    assert told["rehearsal"] is False


async def test_a_lone_transfer_is_not_appended_and_its_text_and_plan_reach_the_target(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [climb("MODEL_PRO", text="Too hard for me.")])
    rehearsal.script(PRO, [Reply(text="Proved.")])
    result = await graph.ainvoke(ask("Prove it"), context=context)
    assert [type(m) for m in result["messages"]] == [HumanMessage, AIMessage]
    assert account(result["messages"][-1])["level"] == "MODEL_PRO"
    newest = rehearsal.requests[-1].texts[-1]
    assert "<transfer_plan" in newest
    assert "prove it" in newest
    assert "Too hard for me." in newest
    assert rehearsal.requests[-1].body["contents"][-1]["parts"][0]["text"] == "Prove it"


async def test_p8_the_plan_is_never_in_the_system_text(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [climb("MODEL_FLASH")])
    rehearsal.script(FLASH, [Reply(text="Done.")])
    await graph.ainvoke(ask("Prove it"), context=context)
    assert "prove it" not in rehearsal.requests[-1].system


async def test_a_transfer_beside_other_calls_is_kept_whole_and_answered(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    sibling = Call("search_meta_artifacts", {"query": "tea"})
    rehearsal.script(LITE, [climb("MODEL_FLASH", beside=[sibling])])
    rehearsal.script(FLASH, [Reply(text="No tea.")])
    messages = (await graph.ainvoke(ask("Which tea do I like?"), context=context))["messages"]
    assert [type(m) for m in messages] == [HumanMessage, AIMessage, ToolMessage, ToolMessage, AIMessage]
    assert messages[2].text == "transferred to MODEL_FLASH"
    assert [c["name"] for c in messages[1].tool_calls] == ["new_cognitive_level", "search_meta_artifacts"]
    assert rehearsal.requests[-1].skip_markers == 1, "the foreign signature gives way to the marker"
    assert rehearsal.refusals == []


@pytest.mark.parametrize(
    ("policy", "offered"),
    [
        ("AUTO", ["MODEL_FLASH"]),
        ("AUTO_PRO", ["MODEL_FLASH", "MODEL_PRO"]),
        ("MODEL_LITE", None),
        ("MODEL_FLASH", None),
        ("MODEL_PRO", None),
    ],
)
async def test_a_level_is_offered_just_the_targets_its_policy_allows(
    policy: Any, offered: list[str] | None, rehearsal: RehearsalServer, services: Services
) -> None:
    for model in (LITE, FLASH, PRO):
        rehearsal.script(model, [Reply(text="Yes.")])
    await graph.ainvoke(ask("Hi"), context=BoundContext(policy=policy, bound=services))
    tool = rehearsal.requests[-1].tools.get("new_cognitive_level")
    assert (tool and tool["parameters"]["properties"]["target_model"]["enum"]) == offered


@pytest.mark.parametrize("target", ["MODEL_LITE", "MODEL_ULTRA", ""])
async def test_a_forbidden_target_is_answered_with_the_allowed_ones(
    target: str, rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [climb(target), Reply(text="Then I do it myself.")])
    messages = (await graph.ainvoke(ask("Hi"), context=context))["messages"]
    assert messages[-1].text == "Then I do it myself."
    assert "MODEL_FLASH" in messages[-2].text
    assert "MODEL_PRO" in messages[-2].text
    assert account(messages[-1])["transfers"] == 0


async def test_an_empty_plan_is_refused(rehearsal: RehearsalServer, context: BoundContext) -> None:
    empty = Call("new_cognitive_level", {"target_model": "MODEL_PRO", "transfer_plan": " "})
    rehearsal.script(LITE, [Reply(calls=[empty]), Reply(text="Alone, then.")])
    messages = (await graph.ainvoke(ask("Hi"), context=context))["messages"]
    assert "transfer_plan is blank" in messages[-2].text


async def test_p23_the_next_turn_starts_low_again_without_the_plan(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    rehearsal.script(LITE, [climb("MODEL_PRO"), Reply(text="Second.")])
    rehearsal.script(PRO, [Reply(text="First.")])
    await echo.ainvoke(ask("Prove it"), config, context=context)
    answer = (await echo.ainvoke(ask("Thanks"), config, context=context))["messages"][-1]
    told = account(answer)
    assert (told["level_start"], told["transfers"], told["calls"]) == ("MODEL_LITE", 0, {"MODEL_LITE": 1})
    assert "transfer_plan" not in rehearsal.requests[-1].texts[-1]


async def test_a_thread_scope_stays_where_the_last_turn_ended(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(escalation_scope="thread"))
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    rehearsal.script(LITE, [climb("MODEL_FLASH")])
    rehearsal.script(FLASH, [Reply(text="On FLASH.")])
    for _ in range(2):
        result = await echo.ainvoke(ask("Go"), config, context=BoundContext(bound=services))
    assert account(result["messages"][-1])["level_start"] == "MODEL_FLASH"
    await services.aclose()


async def test_transfers_are_counted_and_end(rehearsal: RehearsalServer, make_settings: Any) -> None:
    services = Services(make_settings(max_transfers=1))
    rehearsal.script(LITE, [climb("MODEL_FLASH")])
    rehearsal.script(FLASH, [climb("MODEL_PRO"), Reply(text="Here.")])
    answer = (await graph.ainvoke(ask("Go"), context=BoundContext(bound=services)))["messages"][-1]
    assert (answer.text, account(answer)["transfers"]) == ("Here.", 1)
    await services.aclose()


async def test_clients_hear_of_a_climb_and_see_the_tokens_of_the_level_that_speaks(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    rehearsal.script(LITE, [climb("MODEL_PRO", text="Hmm.")])
    rehearsal.script(PRO, [Reply(text="Proved at last.", chunks=3)])
    events, tokens = [], []
    async for mode, part in graph.astream(ask("Go"), context=context, stream_mode=["custom", "messages"]):
        if mode == "custom":
            events.append(part)
            tokens.clear()
        elif part[0].text:
            tokens.append(part[0].text)
    assert {"type": "level", "from": "MODEL_LITE", "to": "MODEL_PRO"} in events
    assert len(tokens) > 1
    assert "".join(tokens) == "Proved at last."
