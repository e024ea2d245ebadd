"""The council as a model calls it, in a chat."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.rehearsal import Call, RehearsalServer, Reply
from cognition.services import Services
from graphs.echo import graph
from tests.conftest import FLASH, LITE
from tests.graphs.table import DOWN, SYNTHESIS, Table, opinion, question

CONFIG: Any = {"configurable": {"thread_id": "t"}}
ASK: dict[str, Any] = {"messages": [HumanMessage("Let the council decide whether we split.")]}


@pytest.fixture
def chat(services: Services) -> BoundContext:
    """The context of a chat that needs no embeddings."""
    return BoundContext(user_id="ada", memory="off", bound=services)


def consult(**more: Any) -> Call:
    return Call("consult_council", {**question(), **more})


def council_of(rehearsal: RehearsalServer, *calls: Call, **table: Any) -> Table:
    """Script a chat whose model calls `consult_council` and then answers."""
    held = Table(rehearsal, **table)
    rehearsal.script(LITE, [Reply(text="I ask them.", calls=calls), Reply(text="They said so.", chunks=2)])
    return held


async def test_p29_the_chats_stream_tells_who_speaks_and_has_no_message_of_theirs(
    rehearsal: RehearsalServer, chat: BoundContext
) -> None:
    council_of(rehearsal, consult(rounds=2), replies={(2, 1): DOWN["block"]})
    stream = graph.astream(ASK, context=chat, stream_mode=["custom", "messages"], subgraphs=True)
    parts = [(mode, data) async for _, mode, data in stream]
    events = [data for mode, data in parts if mode == "custom" and data["type"] == "council"]
    assert [event["event"] for event in events if event.get("round", 1) == 1][:2] == ["convened", "distilled"]
    spoke = [(e["alias"], e["round"]) for e in events if e["event"] == "spoke"]
    assert sorted(spoke) == [(f"Participant {n}", r) for n in (1, 2, 3) for r in (1, 2) if (n, r) != (2, 1)]
    assert [e["alias"] for e in events if e["event"] == "absent"] == ["Participant 2"]
    assert all(e["tokens"]["input"] > 0 for e in events if e["event"] == "spoke")
    assert events[-1]["event"] == "ended"
    said = [data[0] for mode, data in parts if mode == "messages"]
    assert not any("Opinion" in message.text for message in said if not isinstance(message, ToolMessage))
    assert {data[1]["langgraph_node"] for mode, data in parts if mode == "messages"} <= {
        "think_lite",
        "use_tools",
        "record",
    }


async def test_the_result_says_first_who_answered_and_the_artifact_holds_the_rest(
    rehearsal: RehearsalServer, chat: BoundContext
) -> None:
    council_of(rehearsal, consult(), replies={(2, 1): DOWN["block"]})
    saver = InMemorySaver()
    echo = graph.copy(update={"checkpointer": saver})
    messages = (await echo.ainvoke(ASK, CONFIG, context=chat))["messages"]
    (result,) = [message for message in messages if isinstance(message, ToolMessage)]
    head, first, *_ = result.text.splitlines()
    assert head.startswith("<council note=")
    assert first.startswith("**Council: 3 of 3 participants answered, 1 of them not in every round")
    assert SYNTHESIS in result.text
    assert result.artifact["usage"]["calls"] == 11
    assert messages[-1].text == "They said so."
    assert {namespace for namespace in saver.storage["t"]} == {""}, "no checkpoint is of the council"


async def test_a_council_that_cannot_be_held_is_a_sentence_and_costs_nothing(
    rehearsal: RehearsalServer, chat: BoundContext
) -> None:
    table = council_of(rehearsal, consult(participants="architect, <b>nobody</b>"))
    messages = (await graph.ainvoke(ASK, context=chat))["messages"]
    result = next(message for message in messages if isinstance(message, ToolMessage))
    assert result.text.startswith("Error: Unknown skill '&lt;b&gt;nobody&lt;/b&gt;'")
    assert "- researcher: " in result.text
    assert table.asked(1) == []


async def test_p70_nobody_answering_is_an_error(rehearsal: RehearsalServer, chat: BoundContext) -> None:
    council_of(rehearsal, consult(), say=lambda who, when: DOWN["block"])
    messages = (await graph.ainvoke(ASK, context=chat))["messages"]
    result = next(message for message in messages if isinstance(message, ToolMessage))
    assert result.text.startswith("Error: no participant answered.")
    assert "Participant 3 (Researcher) was absent in round 1: " in result.text
    assert result.artifact["outcome"] == "failed"


async def test_p29_two_councils_in_one_message_do_not_mix(
    rehearsal: RehearsalServer, chat: BoundContext
) -> None:
    calls = (
        consult(rounds=1),
        consult(rounds=2, participants=["architect", "researcher"], question="And tea?"),
    )
    council_of(rehearsal, *calls)
    messages = (await graph.ainvoke(ASK, context=chat))["messages"]
    first, second = (m.artifact for m in messages if isinstance(m, ToolMessage))
    assert (first["question"], first["asked"], first["rounds_held"]) == ("Split the monolith?", 3, 1)
    assert (second["question"], second["asked"], second["rounds_held"]) == ("And tea?", 2, 2)
    assert rehearsal.refusals == []


async def test_the_settings_say_how_many_rounds_when_the_model_does_not(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(council_rounds_default=2))
    council_of(rehearsal, consult())
    messages = (await graph.ainvoke(ASK, context=BoundContext(memory="off", bound=services)))["messages"]
    result = next(message for message in messages if isinstance(message, ToolMessage))
    assert result.artifact["rounds_held"] == 2
    await services.aclose()


async def test_p22_the_time_of_a_council_is_not_the_turns(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(turn_seconds=1))
    council_of(rehearsal, consult(rounds=1), say=lambda who, when: Reply(text="Late, but so.", latency=1.2))
    answer = (await graph.ainvoke(ASK, context=BoundContext(memory="off", bound=services)))["messages"][-1]
    assert answer.text == "They said so."
    assert answer.response_metadata["cognition"]["calls"] == {"MODEL_LITE": 2, "consult_council": 1}
    await services.aclose()


async def test_the_councils_levels_stay_under_the_chats_policy(
    rehearsal: RehearsalServer, services: Services
) -> None:
    Table(rehearsal)
    rehearsal.script(LITE, [Reply(calls=[consult(rounds=1)]), Reply(text="So.")])
    rehearsal.script(FLASH, [opinion("Quickly.")])
    asking = BoundContext(policy="AUTO", memory="off", bound=services)
    messages = (await graph.ainvoke(ASK, context=asking))["messages"]
    result = next(message for message in messages if isinstance(message, ToolMessage))
    assert "MODEL_PRO is above what this chat allows (MODEL_FLASH)" in result.text
