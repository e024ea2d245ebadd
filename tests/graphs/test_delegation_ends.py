"""Turns of sub-agents whose last call ends in a failure or a question."""

from typing import Any

from cognition.prompts.delegation import report_text
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from tests.conftest import LITE
from tests.graphs.agents import LOOK, agents, delegate


async def test_p75_a_last_call_that_fails_is_an_error(rehearsal: RehearsalServer, make_settings: Any) -> None:
    services = Services(make_settings(delegate_max_calls=1))
    rehearsal.script(LITE, [Reply(text="Half is tea.", calls=[LOOK]), Reply(failure="blocked")])
    outcome = (await delegate(services, "Sort the drinks")).outcome
    assert outcome["status"] == "error"
    assert outcome["text"].startswith("Half is tea.\n\n")
    assert "withheld" in outcome["text"]
    await services.aclose()


async def test_p74_a_last_call_may_end_in_a_question(rehearsal: RehearsalServer, make_settings: Any) -> None:
    services = Services(make_settings(delegate_max_calls=1))
    rehearsal.script(LITE, [Reply(calls=[LOOK]), Reply(text="Half.\nQUESTION: which one?")])
    report = await delegate(services, "Look")
    assert report.outcome["status"] == "pending_question"
    assert [thread.status for thread in await agents(services).open_threads()] == ["waiting"]
    rehearsal.script(LITE, [Reply(text="Found.")])
    again = await delegate(services, "The first", sub_sid=report.sub_sid)
    assert (again.outcome["status"], again.outcome["text"]) == ("success", "Found.")
    await services.aclose()


async def test_p74_a_question_that_was_cut_off_is_still_asked(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Nearly.\n\nQUESTION: which of the two", failure="max_tokens")])
    report = await delegate(services, "Draft the notice.")
    assert report.outcome["status"] == "pending_question"
    assert "<question>\nwhich of the two\n</question>" in report_text(report, 25)
