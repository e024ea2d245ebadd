"""Turns in session memory, and files in a full context."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.ingestion.intake import open_intake
from cognition.rehearsal import Call, RehearsalServer, Reply, Request
from cognition.services import Services
from cognition.sessions import close_session
from graphs.echo import graph
from tests.conftest import DISTILLATION, LITE
from tests.graphs.test_echo_files import attached

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def say(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def result_in(request: Request) -> str:
    """Return the newest tool result in a request."""
    parts = [part for content in request.body["contents"] for part in content["parts"]]
    return json.dumps(next(p for p in reversed(parts) if "functionResponse" in p), ensure_ascii=False)


@pytest.fixture
def echo() -> Any:
    return graph.copy(update={"checkpointer": InMemorySaver()})


async def test_what_was_said_is_found_by_a_later_turn(
    rehearsal: RehearsalServer, context: BoundContext, services: Services, echo: Any
) -> None:
    search = Call("search_sessions_context", {"query": "when did the harbour freeze?"})
    rehearsal.script(LITE, [Reply(text="It did."), Reply(calls=[search]), Reply(text="On 3 March.")])
    await echo.ainvoke(say("The harbour froze on 3 March."), CONFIG, context=context)
    await services.jobs.finish()
    await echo.ainvoke(say("When was that?"), CONFIG, context=context)
    found = result_in(rehearsal.requests[-1])
    assert "conversation_history" in found
    assert "froze on 3 March" in found


async def test_each_turn_is_indexed_once_and_a_missed_one_is_made_up_for(
    rehearsal: RehearsalServer, make_settings: Any, services: Services, echo: Any
) -> None:
    rehearsal.script(LITE, [Reply(text=f"Answer {n}.") for n in range(3)])
    unindexed = Services(make_settings(index_conversation=False, home=services.settings.home / "other"))
    await echo.ainvoke(say("Missed"), CONFIG, context=BoundContext(user_id="ada", bound=unindexed))
    await unindexed.aclose()
    for question in ("Second", "Third"):
        await echo.ainvoke(say(question), CONFIG, context=BoundContext(user_id="ada", bound=services))
        await services.jobs.finish()
    session = await services.session()
    found = await session.search("ada", "t", "question", source_id="conversation_history")
    text = "\n".join(passage.text for passage in found.passages)
    assert [text.count(question) for question in ("Missed", "Second", "Third")] == [1, 1, 1]


async def test_a_long_result_is_moved_to_session_memory_and_can_be_searched(
    rehearsal: RehearsalServer, context: BoundContext, echo: Any
) -> None:
    long = "The harbour froze on 3 March. " + "Nothing else is known of that year. " * 400
    task = Call("delegate_to_agent", {"task": "Read the chronicle."})
    rehearsal.script(LITE, [Reply(calls=[task]), Reply(text=long), Reply(text="On 3 March.")])
    await echo.ainvoke(say("Have the chronicle read."), CONFIG, context=context)
    result = result_in(rehearsal.requests[-1])
    assert "moved to session memory" in result
    assert len(result) < 2_000
    session = await context.services().session()
    (source, *_) = (await session.sources("ada", "t")).sources
    assert source.source_id.startswith("delegate_to_agent_")
    assert source.source_id in result
    found = await session.search("ada", "t", "frozen harbour", source_id=source.source_id)
    assert "froze on 3 March" in found.passages[0].text


async def test_a_full_context_takes_whole_files_out_of_the_prompt(
    rehearsal: RehearsalServer, make_settings: Any, echo: Any
) -> None:
    services = Services(make_settings(context_tokens=20_000))
    context = BoundContext(user_id="ada", bound=services)
    chronicle = "".join(f"In {1000 + n} the harbour froze {n} times.\n\n" for n in range(300))
    rehearsal.script(DISTILLATION, [Reply(text="A chronicle of frozen harbours.")])
    rehearsal.script(LITE, [Reply(text="Much."), Reply(text="Yes.")])
    await echo.ainvoke(attached("What is this?", chronicle, "chronicle.md"), CONFIG, context=context)
    assert 'mode="put_in_context"' in rehearsal.requests[0].texts[0]
    await echo.ainvoke(say("word " * 5_000), CONFIG, context=context)
    last = rehearsal.requests[-1]
    assert 'mode="vectorized_sum_up"' in last.texts[0]
    assert "A chronicle of frozen harbours." in last.texts[0]
    assert "In 1299 the harbour" not in str(last.body)
    assert "save_session_context" in last.texts[-1]
    await services.aclose()


async def test_a_chat_whose_session_was_closed_says_so_and_is_indexed_anew(
    rehearsal: RehearsalServer, context: BoundContext, services: Services, echo: Any
) -> None:
    rehearsal.script(LITE, [Reply(text=f"Answer {n}.") for n in range(3)])
    await echo.ainvoke(attached("Remember the harbour.", "A file."), CONFIG, context=context)
    await services.jobs.finish()
    await close_session(services, "ada", "t")
    session = await services.session()
    assert (await session.sources("ada", "t")).total == 0
    for _ in range(2):
        await echo.ainvoke(say("Go on"), CONFIG, context=context)
        await services.jobs.finish()
    told, later = (request.texts[-1] for request in rehearsal.requests[1:])
    assert "was closed" in told
    assert "was closed" not in later
    found = await session.search("ada", "t", "harbour", source_id="conversation_history")
    assert "Remember the harbour." in found.passages[0].text


async def test_a_file_that_a_killed_process_left_pending_is_taken_up_by_the_next_turn(
    rehearsal: RehearsalServer, context: BoundContext, services: Services, echo: Any
) -> None:
    intake = await open_intake(services)
    given = attached("", "The harbour froze.")["messages"][0].content[1]
    await asyncio.to_thread(intake.receive, "ada", "t", given)
    rehearsal.script(LITE, [Reply(text="I see.")])
    await echo.ainvoke(say("What do you see?"), CONFIG, context=context)
    assert "The harbour froze." in rehearsal.requests[-1].texts[0]
