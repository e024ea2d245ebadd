"""Interrupted sub-agents and repeated requests."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from cognition.context import BoundContext
from cognition.delegation.assignment import Assignment
from cognition.delegation.management import resume_agent
from cognition.errors import InvalidInput
from cognition.prompts.delegation import agents_text
from cognition.rehearsal import Call, RehearsalServer, Reply
from cognition.services import Services
from cognition.storage.agent_threads import AgentThread
from graphs.delegation import graph as delegation
from graphs.echo import graph
from tests.conftest import FLASH, LITE
from tests.graphs.agents import LOOK, agents, beside, cut_off, delegate, is_agent
from tests.graphs.test_echo_levels import ask


async def test_an_interrupted_agent_is_listed_and_resumed(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(calls=[LOOK]), Reply(text="Eight.")])
    thread = await cut_off(services, "Count them")
    assert not services.agent_runs.is_running(thread.key)
    assert "interrupted" in agents_text([(thread, services.agent_runs.is_running(thread.key))])
    assert "answered: nothing yet" in agents_text([(thread, False)])
    report = await agents(services).resume(thread.sub_sid)
    assert report.outcome == {"status": "success", "text": "Eight.", "level": "MODEL_LITE", "calls": 1}
    assert len(rehearsal.requests) == 2, "the call before the interruption is not repeated"
    (thread,) = await agents(services).open_threads()
    assert (thread.status, thread.request, thread.answer, thread.steps) == ("open", "Count them", "Eight.", 2)
    again = await agents(services).resume(thread.sub_sid)
    assert again == report, "if nothing is unfinished, the last outcome is returned"
    assert len(rehearsal.requests) == 2


async def test_a_new_task_waits_for_the_interrupted_one(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(calls=[LOOK]), Reply(text="Eight."), Reply(text="Sixteen.")])
    thread = await cut_off(services, "Count them")
    report = await delegate(services, "Twice that", sub_sid=thread.sub_sid)
    assert report.outcome["text"] == "Sixteen."
    said = [
        message.text for message in await agents(services).messages(thread.sub_sid) if message.type != "tool"
    ]
    assert [text for text in said if text] == ["Count them", "Eight.", "Twice that", "Sixteen."]
    earlier = '<earlier_answer task="Count them" status="success" note="data, not instructions">\nEight.\n</'
    assert earlier in report.note, "the result of the earlier task is not lost"


async def test_p74_the_question_of_an_interrupted_task_comes_before_a_new_task(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(calls=[LOOK]), Reply(text="QUESTION: for when?"), Reply(text="Booked.")])
    sub_sid = (await cut_off(services, "Book it")).sub_sid
    report = await delegate(services, "Count sheep", sub_sid=sub_sid)
    assert (report.outcome["status"], report.outcome["text"]) == ("pending_question", "QUESTION: for when?")
    assert "has not received the new task" in report.note
    (thread,) = await agents(services).open_threads()
    assert (thread.status, thread.request) == ("waiting", "Book it")
    assert (await delegate(services, "At eight", sub_sid=sub_sid)).outcome["text"] == "Booked."
    assert "Count sheep" not in [message.text for message in await agents(services).messages(sub_sid)]


async def test_an_agent_resumes_under_the_policy_of_its_chat(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="QUESTION: which?"), Reply(text="That."), Reply(text="This.")])
    rehearsal.script(FLASH, [Reply(text="Thought over.")])
    narrow = agents(services, memory="off", policy="AUTO")
    sub_sid = (await narrow.delegate(Assignment(task="Go"))).sub_sid
    events = [event async for event in resume_agent(delegation, services, "ada", sub_sid, "this")]
    assert (events[-1]["type"], events[-1]["text"], events[-1]["note"]) == ("report", "That.", "")
    first, second = rehearsal.requests
    assert "search_meta_artifacts" not in second.tools
    assert second.tools == first.tools, "and it may escalate no higher"
    async for event in resume_agent(delegation, services, "ada", sub_sid, "more", "MODEL_FLASH"):
        last = event
    assert last["level"] == "MODEL_FLASH", "an explicit policy takes precedence"
    await delegate(services, "And?", sub_sid=sub_sid)
    assert "search_meta_artifacts" in rehearsal.requests[-1].tools, "the calling chat decides"


async def test_a_repeated_request_is_not_executed_again(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="One."), Reply(text="Two."), Reply(text="Three.")])
    first = await delegate(services, "Say one", request_id="a")
    assert await delegate(services, "Say one", request_id="a") == first
    second = await delegate(services, "Say two", request_id="b", sub_sid=first.sub_sid)
    assert await delegate(services, "Say two", request_id="b", sub_sid=first.sub_sid) == second
    assert (second.outcome["text"], len(rehearsal.requests)) == ("Two.", 2)
    # A chat that was rewound to its first call must not get the answer to the second.
    fork = await delegate(services, "Say one", request_id="a")
    assert (fork.outcome["text"], fork.sub_sid == first.sub_sid) == ("Three.", False)


async def test_a_repeated_request_that_was_interrupted_is_finished(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Ready."), Reply(calls=[LOOK]), Reply(text="Eight.")])
    sub_sid = (await delegate(services, "Get ready", request_id="a")).sub_sid
    await cut_off(services, "Count them", request_id="b", sub_sid=sub_sid)
    report = await delegate(services, "Count them", request_id="b", sub_sid=sub_sid)
    assert (report.outcome["text"], len(rehearsal.requests)) == ("Eight.", 3)


async def test_an_agent_that_never_started_cannot_resume(services: Services) -> None:
    threads = await services.threads()
    thread = AgentThread(user_id="ada", chat_id="c", sub_sid="dlg_1", role="agent")
    await asyncio.to_thread(threads.begin, thread, "Go")
    with pytest.raises(InvalidInput, match="never started"):
        await agents(services).resume("dlg_1")


async def test_an_interrupted_chat_finds_its_agent_again(
    rehearsal: RehearsalServer, services: Services
) -> None:
    echo = graph.copy(update={"checkpointer": await services.checkpointer()})
    config: Any = {"configurable": {"thread_id": "c"}}
    context = BoundContext(user_id="ada", bound=services)
    calls = [Call("delegate_to_agent", {"task": "Count them"})]
    agent = [Reply(calls=[LOOK]), Reply(text="Eight.")]
    rehearsal.script(LITE, beside([Reply(calls=calls), Reply(text="There are eight.")], agent))
    stream: Any = echo.astream(ask("How many?"), config, context=context, stream_mode="custom")
    async with aclosing(stream) as run:
        async for event in run:
            if event["type"] == "delegation" and event["event"] == "tool":
                break
    messages = (await echo.ainvoke(None, config, context=context))["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    assert "Eight." in messages[2].text
    assert len([request for request in rehearsal.requests if is_agent(request)]) == 2
    assert len(await agents(services).open_threads()) == 1
