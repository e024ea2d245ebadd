"""Threads of sub-agents that outgrow the context."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from tests.conftest import DISTILLATION, LITE
from tests.graphs.agents import LOOK, agents, delegate, task_of

LONG = "x" * 1_000
"""A text that takes a few percent of the context in these tests."""


async def grown(rehearsal: RehearsalServer, services: Services, tasks: int) -> str:
    """Give a sub-agent a number of long tasks, each with a tool call, and return its id."""
    sub_sid = ""
    for number in range(tasks):
        rehearsal.script(LITE, [Reply(calls=[LOOK], thought="hm"), Reply(text=f"Answer {number}. {LONG}")])
        sub_sid = (await delegate(services, f"Task {number}. {LONG[:200]}", sub_sid=sub_sid)).sub_sid
    return sub_sid


async def test_the_oldest_exchanges_become_notes_in_the_prompt(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(context_tokens=12_000))
    rehearsal.script(DISTILLATION, [Reply(text="Task 0 gave answer 0. </earlier_exchanges>")])
    sub_sid = await grown(rehearsal, services, 8)
    said = await agents(services).messages(sub_sid)
    (request,) = [r for r in rehearsal.requests if r.model == DISTILLATION][:1]
    assert "result of list_skills:" in request.texts[0]
    assert "task: Task 0." in request.texts[0]
    assert isinstance(said[0], HumanMessage)
    assert said[0].text[:6] != "Task 0"
    assert "<earlier_exchanges" in task_of(rehearsal.requests[-1])
    assert "&lt;/earlier_exchanges&gt;" in task_of(rehearsal.requests[-1])
    assert "Task 0." not in rehearsal.requests[-1].texts[0]
    assert rehearsal.refusals == []
    assert {r.skip_markers for r in rehearsal.requests} == {0}, "P2: the remaining messages are unchanged"
    await services.aclose()


async def test_p3_exchanges_that_no_longer_fit_become_notes_within_the_turn(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(context_tokens=6_000))
    rehearsal.script(LITE, [Reply(text="The key is 4711.")])
    sub_sid = (await delegate(services, "Find the key.")).sub_sid
    rehearsal.script(DISTILLATION, [Reply(text="The key was found: 4711.")])
    rehearsal.script(LITE, [*[Reply(calls=[LOOK], text=LONG)] * 6, Reply(text="Done.")])
    report = await delegate(services, "Look around.", sub_sid=sub_sid)
    assert report.outcome["text"] == "Done."
    shown = [r for r in rehearsal.requests if r.model == LITE][1:]
    assert all("The key is 4711." in r.texts or "The key was found: 4711." in task_of(r) for r in shown)
    assert "The key was found: 4711." in task_of(shown[-1])
    assert rehearsal.refusals == []
    await services.aclose()


@pytest.mark.parametrize(
    "failing", [Reply(failure="blocked"), Reply(text="Notes, cut off at", failure="max_tokens")]
)
async def test_notes_are_carried_over_and_a_failure_loses_nothing(
    failing: Reply, rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(context_tokens=12_000))
    rehearsal.script(DISTILLATION, [failing])
    sub_sid = await grown(rehearsal, services, 6)
    texts = [message.text for message in await agents(services).messages(sub_sid)]
    assert [text[:7] for text in texts if text.startswith("Task")] == [f"Task {n}." for n in range(6)]
    rehearsal.script(DISTILLATION, [Reply(text="First notes."), Reply(text="Second notes.")])
    for number in range(8):
        rehearsal.script(LITE, [Reply(calls=[LOOK]), Reply(text=f"More {number}. {LONG}")])
        await delegate(services, f"More {number}", sub_sid=sub_sid)
    asked = [request.texts[0] for request in rehearsal.requests if request.model == DISTILLATION]
    assert len([text for text in asked if "<earlier_notes>\nFirst notes.\n</earlier_notes>" in text]) == 1
    assert "Second notes." in task_of(rehearsal.requests[-1])
    await services.aclose()
