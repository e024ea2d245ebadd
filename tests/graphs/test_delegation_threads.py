"""The threads of sub-agents, as used by the calling chat."""

import asyncio
import re
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from cognition.concurrency.event_loop import wait_for
from cognition.concurrency.exclusive_runs import RunBusy
from cognition.context import BoundContext
from cognition.delegation.assignment import Assignment
from cognition.delegation.sub_agents import UnknownAgent
from cognition.prompts.delegation import MOST_LISTED, agents_text
from cognition.rehearsal import Call, RehearsalServer, Reply, Request
from cognition.services import Services
from cognition.storage.agent_threads import AgentThread
from cognition.storage.disk.folder_lock import FolderInUse
from graphs.echo import graph
from tests.conftest import DISTILLATION, FLASH, LITE
from tests.graphs.agents import LOOK, agents, beside, delegate, is_agent
from tests.graphs.test_echo_levels import ask, climb


def chat(services: Services, thread: str = "c", user: str = "ada") -> Any:
    """Return a function that sends a message to a chat and returns the messages of its thread."""
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config = {"configurable": {"thread_id": thread}}
    context = BoundContext(user_id=user, bound=services)

    async def say(text: str) -> list[Any]:
        return (await echo.ainvoke(ask(text), config, context=context))["messages"]

    return say


def call(**arguments: str) -> Call:
    return Call("delegate_to_agent", arguments)


def results(messages: list[Any]) -> list[ToolMessage]:
    """Return the results of tools in the newest turn."""
    newest = max(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    return [message for message in messages[newest:] if isinstance(message, ToolMessage)]


async def test_a_thread_continues_after_a_restart(rehearsal: RehearsalServer, make_settings: Any) -> None:
    services = Services(make_settings())
    rehearsal.script(LITE, [Reply(calls=[LOOK]), Reply(text="Eight.")])
    report = await delegate(services, "Count them")
    await services.aclose()
    services = Services(make_settings())
    rehearsal.script(LITE, [Reply(text="Sixteen.")])
    again = await delegate(services, "Twice that?", sub_sid=f" {report.sub_sid} ")
    assert (again.sub_sid, again.outcome["text"]) == (report.sub_sid, "Sixteen.")
    sent = rehearsal.requests[-1].texts
    assert [text for text in sent if text] == ["Count them", "Eight.", "Twice that?"]
    await services.aclose()


async def test_p74_a_question_reaches_the_chat_and_the_answer_its_thread(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings())
    rehearsal.script(
        LITE,
        beside(
            [Reply(calls=[call(task="Book it")]), Reply(text="When?")], [Reply(text="Ok.\nQUESTION: when?")]
        ),
    )
    (asked,) = results(await chat(services)("Book a table"))
    assert asked.text.startswith("Status: pending_question")
    assert "<question>\nwhen?\n</question>" in asked.text[:400], (
        "near the start, where a shortened result still shows it"
    )
    sub_sid = asked.artifact["sub_sid"]
    (thread,) = await agents(services).open_threads()
    assert (thread.sub_sid, thread.status, thread.answer) == (sub_sid, "waiting", "Ok. QUESTION: when?")
    await services.jobs.finish()
    await services.aclose()
    services = Services(make_settings())
    replies = [Reply(calls=[call(task="At eight", sub_sid=sub_sid)]), Reply(text="Booked.")]
    rehearsal.script(LITE, beside(replies, [Reply(text="Booked for eight.")]))
    (answered,) = results(await chat(services)("At eight"))
    assert answered.artifact["status"] == "success"
    (request,) = [r for r in rehearsal.requests[3:] if is_agent(r)]
    assert [text for text in request.texts if text] == ["Book it", "Ok.\nQUESTION: when?", "At eight"]
    (thread,) = await agents(services).open_threads()
    assert (thread.status, thread.steps) == ("open", 2)
    await services.jobs.finish()
    await services.aclose()


async def test_p29_delegations_of_one_message_run_side_by_side_on_threads_of_their_own(
    rehearsal: RehearsalServer, services: Services
) -> None:

    def agent(request: Request) -> Reply:
        return Reply(text=f"Done: {request.texts[0]}", latency=1.0)

    calls = [call(task=f"task {n}") for n in range(3)]
    rehearsal.script(LITE, beside([Reply(calls=calls), Reply(text="All.")], agent))
    events, messages = [], []
    async for mode, part in graph.astream(
        ask("Go"),
        {"configurable": {"thread_id": "c"}},
        context=BoundContext(user_id="ada", bound=services),
        stream_mode=["custom", "values"],
    ):
        if mode == "values":
            messages = part["messages"]
        elif part["type"] == "delegation":
            events.append(part["event"])
    assert events == ["started"] * 3 + ["ended"] * 3
    answered = results(messages)
    assert [message.artifact["text"] for message in answered] == [f"Done: task {n}" for n in range(3)]
    assert len({message.artifact["sub_sid"] for message in answered}) == 3
    assert len(await agents(services).open_threads()) == 3


async def test_p20_one_that_fails_leaves_the_others_results(
    rehearsal: RehearsalServer, services: Services
) -> None:
    def agent(request: Request) -> Reply:
        return Reply(failure="blocked") if "bad" in request.texts[0] else Reply(text="Fine.")

    calls = [call(task="good"), call(task="bad"), call(task=" "), call(task="x", skill_id="nobody")]
    rehearsal.script(LITE, beside([Reply(calls=calls), Reply(text="One of four.")], agent))
    messages = await chat(services)("Go")
    good, bad, blank, unknown = results(messages)
    assert good.artifact["status"] == "success"
    assert bad.artifact["status"] == "error"
    assert blank.text == "Error: nothing was done. The task is blank: describe what the sub-agent should do."
    assert "nobody" in unknown.text
    assert messages[-1].text == "One of four."
    assert len(await agents(services).open_threads()) == 2, "rejected calls started no sub-agent"


async def test_p29_two_calls_of_a_thread_in_one_message_run_only_once(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Ready.")])
    sub_sid = (await delegate(services, "Get ready")).sub_sid
    calls = [call(task="left", sub_sid=sub_sid), call(task="right", sub_sid=sub_sid)]
    rehearsal.script(LITE, beside([Reply(calls=calls), Reply(text="Hm.")], [Reply(text="Done.")]))
    answered = results(await chat(services)("Go"))
    assert sorted(message.text.startswith("Status: success") for message in answered) == [False, True]
    assert any("is busy" in message.text for message in answered)


async def test_p29_the_stream_of_the_chat_contains_the_agents_progress_but_not_its_messages(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(
        LITE,
        beside(
            [Reply(calls=[call(task="Go")]), Reply(text="Told.")], [Reply(calls=[LOOK]), climb("MODEL_FLASH")]
        ),
    )
    rehearsal.script(FLASH, [Reply(text="Secret thoughts.", chunks=3)])
    texts, events = "", []
    async for namespace, mode, part in graph.astream(
        ask("Go"),
        {"configurable": {"thread_id": "c"}},
        context=BoundContext(user_id="ada", bound=services),
        stream_mode=["messages", "custom", "updates"],
        subgraphs=True,
    ):
        assert namespace == ()
        if mode == "messages" and part[0].type != "tool":
            texts += part[0].text
        elif mode == "custom":
            events.append(part)
    assert texts == "Told."
    progress = [event for event in events if event["type"] == "delegation"]
    assert [event["event"] for event in progress] == ["started", "tool", "tool", "level", "ended"]
    assert progress[-1]["status"] == "success"
    assert {event["sub_sid"] for event in progress} == {progress[0]["sub_sid"]}
    assert {event["type"] for event in events} <= {"delegation", "tool"}


async def test_p47_threads_of_other_chats_and_users_are_not_accessible(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    sub_sid = (await delegate(services, "Go")).sub_sid
    for stranger in (agents(services, "eve"), agents(services, "ada", "other"), agents(services, "eve", "x")):
        assert await stranger.open_threads() == []
        for attempt in (
            stranger.delegate(Assignment(task="Tell me", sub_sid=sub_sid)),
            stranger.messages(sub_sid),
            stranger.close(sub_sid),
            stranger.resume(sub_sid),
        ):
            with pytest.raises(UnknownAgent, match="Open sub-agents: none"):
                await attempt
    assert [message.text for message in await agents(services).messages(sub_sid)] == ["Go", "Done."]


async def test_the_error_for_an_unknown_agent_lists_the_open_ones(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    sub_sid = (await delegate(services, "Go", system_prompt="You count.\nSlowly.")).sub_sid
    calls = [call(task="On", sub_sid="dlg_0000000000"), Call("close_agent_session", {"sub_sid": "dlg_1"})]
    rehearsal.script(LITE, beside([Reply(calls=calls), Reply(text="No.")], []))
    for message in results(await chat(services)("Go on")):
        assert message.text.startswith("Error")
        assert f"{sub_sid} (You count.)" in message.text


async def test_agents_are_listed_and_closed(rehearsal: RehearsalServer, services: Services) -> None:
    listing, say = Call("list_agent_sessions"), chat(services)
    rehearsal.script(LITE, beside([Reply(calls=[listing]), Reply(text="None.")], []))
    assert "No sub-agent is open" in results(await say("Who is at work?"))[0].text
    rehearsal.script(LITE, [Reply(text="Long. " * 100)])
    sub_sid = (await delegate(services, "Count </agents> well")).sub_sid
    closing = Call("close_agent_session", {"sub_sid": sub_sid})
    turns = [Reply(calls=[listing]), Reply(text="One."), Reply(calls=[closing]), Reply(text="Closed.")]
    rehearsal.script(LITE, beside(turns, []))
    text = results(await say("Who is at work?"))[0].text
    assert re.search(rf"- {sub_sid} · agent · open · 1 step · (a moment|\d+ seconds?) ago\n", text)
    assert "asked: Count &lt;/agents&gt; well\n" in text
    assert text.count("Long.") <= 200 // len("Long. ") + 1, "at most 200 characters of each answer"
    assert results(await say("Close it"))[0].text == f"Closed: {sub_sid} (agent)."
    assert await agents(services).open_threads() == []
    saver = await services.checkpointer()
    assert [saved async for saved in saver.alist(None)] == [], "its checkpoints were deleted"


async def test_a_long_list_of_agents_is_shortened_with_a_note(services: Services) -> None:
    threads = await services.threads()
    for number in range(MOST_LISTED + 5):
        thread = AgentThread(user_id="ada", chat_id="c", sub_sid=f"dlg_{number}", role="agent")
        await asyncio.to_thread(threads.begin, thread, f"Task {number}")
    text = agents_text([(thread, False) for thread in await agents(services).open_threads()])
    assert text.count("asked: Task") == MOST_LISTED
    assert "dlg_34" in text
    assert "- dlg_4 " not in text
    assert "Not shown: 5 more" in text


async def test_two_processes_cannot_share_a_home_folder(services: Services) -> None:
    await services.threads()
    with pytest.raises(FolderInUse):
        await Services(services.settings).threads()


async def test_an_expert_gets_a_summary_of_the_chat_and_remembers(
    rehearsal: RehearsalServer, services: Services
) -> None:
    consult = Call("consult_expert_consultant", {"question": "Is it safe?", "skill_id": "devils-advocate"})
    rehearsal.script(DISTILLATION, [Reply(text="They build </context> a bridge.")])
    rehearsal.script(LITE, beside([Reply(calls=[consult]), Reply(text="No.")], [Reply(text="Hardly.")]))
    say = chat(services)
    (first,) = results(await say("We build a bridge"))
    (request,) = [r for r in rehearsal.requests if is_agent(r)]
    assert "They build &lt;/context&gt; a bridge." in request.texts[0]
    assert request.texts[0].endswith("Is it safe?")
    assert "<expertise" in request.system
    again = Call(
        "consult_expert_consultant",
        {**consult.args, "question": "Why?", "sub_sid": first.artifact["sub_sid"]},
    )
    rehearsal.script(LITE, beside([Reply(calls=[again]), Reply(text="So.")], [Reply(text="Wind.")]))
    (second,) = results(await say("Ask why"))
    assert second.artifact["sub_sid"] == first.artifact["sub_sid"]
    assert [r.texts[-1] for r in rehearsal.requests if is_agent(r)][-1] == "Why?", (
        "the briefing is sent only once"
    )
    other = Call("consult_expert_consultant", {**again.args, "skill_id": "architect"})
    rehearsal.script(LITE, beside([Reply(calls=[other]), Reply(text="Hm.")], []))
    (rejected,) = results(await say("Ask another"))
    assert "can't change" in rejected.text


async def test_a_failed_summary_is_reported_as_missing_context(
    rehearsal: RehearsalServer, services: Services
) -> None:
    consult = Call("consult_expert_consultant", {"question": "Is it safe?", "skill_id": "devils-advocate"})
    rehearsal.script(DISTILLATION, [Reply(failure="blocked")])
    rehearsal.script(LITE, beside([Reply(calls=[consult]), Reply(text="No.")], [Reply(text="Hardly.")]))
    await chat(services)("We build a bridge")
    (request,) = [r for r in rehearsal.requests if is_agent(r)]
    assert request.texts[0].startswith("No context:")
    assert "withheld" not in request.texts[0]


async def test_a_role_cannot_change_and_a_note_says_so(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    sub_sid = (await delegate(services, "Go", system_prompt="You count.")).sub_sid
    assert not (await delegate(services, "On", sub_sid=sub_sid, system_prompt="You count.")).note
    assert (await delegate(services, "On", sub_sid=sub_sid, system_prompt="You sing.")).note
    assert "You count." in rehearsal.requests[-1].system
    assert "You sing." not in rehearsal.requests[-1].system


async def test_a_running_agent_can_be_neither_closed_nor_called(services: Services) -> None:
    threads = await services.threads()
    thread = AgentThread(user_id="ada", chat_id="c", sub_sid="dlg_1", role="agent")
    await asyncio.to_thread(threads.begin, thread, "Go")

    async def work() -> None:
        for attempt in (agents(services).close("dlg_1"), delegate(services, "On", sub_sid="dlg_1")):
            with pytest.raises(RunBusy):
                await attempt

    await services.agent_runs.run(thread.key, (thread.user_id, thread.chat_id), work())
    assert (await agents(services).close("dlg_1")).sub_sid == "dlg_1"


async def test_an_agents_time_does_not_count_for_its_caller(
    rehearsal: RehearsalServer, services: Services
) -> None:
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "c"}}
    slow = [Reply(text="Done.", latency=0.5)]
    rehearsal.script(LITE, beside([Reply(calls=[call(task="Go")]), Reply(text="So.")], slow))
    events = echo.astream(
        ask("Go"), config, context=BoundContext(user_id="ada", bound=services), stream_mode="updates"
    )
    before = after = 0.0
    async for update in events:
        if "think_lite" in update and not before:
            before = update["think_lite"]["turn"]["seconds"]
        if "use_tools" in update:
            after = update["use_tools"]["turn"]["seconds"]
    assert before > 0
    assert after == before


def test_a_synchronous_chat_can_delegate_too(rehearsal: RehearsalServer, make_settings: Any) -> None:
    services = Services(make_settings())
    rehearsal.script(LITE, beside([Reply(calls=[call(task="Go")]), Reply(text="So.")], [Reply(text="Done.")]))
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "c"}}
    said = echo.invoke(ask("Go"), config, context=BoundContext(user_id="ada", bound=services))["messages"]
    assert results(said)[0].artifact["text"] == "Done."
    assert said[-1].text == "So."
    wait_for(services.jobs.finish())
    wait_for(services.aclose())
