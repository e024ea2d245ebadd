"""Councils in which participants or the rapporteur fail."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from cognition.context import BoundContext
from cognition.rehearsal import Call, RehearsalServer, Reply
from cognition.services import Services
from graphs.council import graph
from tests.conftest import FLASH, LITE
from tests.graphs.table import DOWN, SYNTHESIS, Table, opinion, question

CHAT = [{"role": "user", "content": "We are eleven people on a monolith."}]
MODES: Any = ["values", "custom", "messages"]


@pytest.fixture
async def quick(make_settings: Any) -> AsyncIterator[Services]:
    """Services with a short timeout for model calls."""
    services = Services(make_settings(call_seconds=2))
    yield services
    await services.aclose()


@pytest.mark.parametrize("kind", DOWN)
@pytest.mark.parametrize("when", [1, 2])
@pytest.mark.parametrize("failing", [1, 2, 3])
async def test_p20_p70_failing_participants_are_absent_and_do_not_stop_the_others(
    kind: str, when: int, failing: int, rehearsal: RehearsalServer, quick: Services
) -> None:
    table = Table(rehearsal, {(who, when): DOWN[kind] for who in range(1, failing + 1)})
    parts = [
        part
        async for part in graph.astream(
            question(messages=CHAT), context=BoundContext(bound=quick), stream_mode=MODES
        )
    ]
    state = [data for mode, data in parts if mode == "values"][-1]
    result, report = state["deliberation"], state["report"]
    goes_on = failing == 1
    held = 3 if goes_on else when
    spoke = 3 if goes_on or when > 1 else 3 - failing
    outcome = {0: "failed", 1: "single opinion"}.get(spoke, "synthesis")

    partly = f", {failing} of them not in every round" if goes_on or when > 1 else ""
    head = f"**Council: {spoke} of 3 participants answered{partly}; {held} of 3 rounds were held.**"
    assert report.startswith(head)
    assert (result["outcome"], result["rounds_held"]) == (outcome, held)
    absences = result["rounds"][when - 1]["absences"]
    assert [absence["alias"] for absence in absences] == [f"Participant {n}" for n in range(1, failing + 1)]
    assert all(absence["reason"] in report for absence in absences)
    assert ("so it was the last one" in report) is not goes_on
    assert len([event for mode, event in parts if mode == "custom" and event["event"] == "absent"]) == failing
    assert len(table.rapporteurs()) == (outcome == "synthesis")
    if outcome != "synthesis":
        assert "# Synthesis" not in report, "a single opinion is not a synthesis"
    if goes_on:
        back = table.asked(1)[when]
        turns = [content["role"] for content in back.body["contents"]]
        assert turns == ["user", "model"] * (len(turns) // 2) + ["user"], "P72: unanswered turns are removed"
        assert "Participant 1 was absent" in table.asked(2)[when].texts[-1]
        assert f"Opinion 2 in round {when}." in back.texts[-1]
        assert ("They run a monolith." not in back.texts[-1]) is (when > 1), (
            "a participant that was never reached gets the context later"
        )
    assert rehearsal.refusals == []


async def test_a_council_without_failures_is_complete(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    Table(rehearsal)
    held = await graph.ainvoke(question(5), context=context)
    assert held["report"].startswith("**Council: 5 of 5 participants answered; 3 of 3 rounds were held.**")
    assert "absent" not in held["report"]
    assert SYNTHESIS in held["report"]
    assert held["deliberation"]["usage"]["calls"] == 5 * 3 + 1


async def test_a_participant_that_fails_in_every_round_is_reported_once(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    table = Table(rehearsal, {(3, when): DOWN["block"] for when in (1, 2, 3)})
    held = await graph.ainvoke(question(), context=context)
    assert "2 of 3 participants answered" in held["report"]
    assert "was absent in rounds 1, 2, 3: " in held["report"]
    assert [len(request.texts) for request in table.asked(3)] == [1, 1, 1]
    assert "Participant 3 was absent in round 3" in table.rapporteurs()[0].texts[-1]


async def test_p71_other_levels_stand_in_for_the_rapporteur(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    Table(rehearsal)
    rehearsal.script(FLASH, [DOWN["block"]])
    rehearsal.script(LITE, [Reply(text="LITE sums up.")])
    held = await graph.ainvoke(question(rounds=1), context=context)
    assert "Synthesis by MODEL_LITE" in held["report"].splitlines()[1]
    assert "withheld" in held["report"].splitlines()[1]
    assert "LITE sums up." in held["report"]


async def test_p70_a_heading_in_a_contribution_does_not_become_one_of_the_report(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    Table(
        rehearsal,
        say=lambda who, when: opinion("# Synthesis\n\nMajority: Buy (3 of 3)."),
        rapporteur=DOWN["block"],
    )
    result = (await graph.ainvoke(question(rounds=1), context=context))["report"]
    assert result.count("\n# ") == 2
    assert "\n> # Synthesis\n>\n> Majority: Buy" in result


async def test_p71_a_synthesis_that_is_cut_off_says_so(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    Table(rehearsal, rapporteur=Reply(text="They agree that", failure="max_tokens"))
    result = await graph.ainvoke(question(rounds=1), context=context)
    assert "They agree that […]\n\n*The synthesis is cut off" in result["report"]


async def test_p71_without_a_rapporteur_the_report_is_the_transcript(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    Table(rehearsal, rapporteur=DOWN["block"], replies={(1, 2): DOWN["block"]})
    held = await graph.ainvoke(question(rounds=2), context=context)
    assert held["deliberation"]["outcome"] == "transcript"
    assert len(held["deliberation"]["synthesis"]["failures"]) == 3
    assert "There is no synthesis" in held["report"].splitlines()[1]
    assert "**Round 2, Participant 1 (Software architect):** (absent)" in held["report"]
    assert "Opinion 3 in round 2." in held["report"]


async def test_a_failed_summary_is_reported_and_its_error_is_not_shown_to_experts(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    table = Table(rehearsal)
    rehearsal.script("gemini-2.5-flash-lite", [DOWN["block"]])
    held = await graph.ainvoke(question(rounds=1, messages=CHAT), context=context)
    assert "No context" in table.asked(1)[0].texts[0]
    assert "withheld" not in table.asked(1)[0].texts[0]
    assert "could not be summarised" in held["report"]


async def test_a_council_that_runs_out_of_time_ends_with_the_contributions_so_far(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(council_seconds=4))
    Table(rehearsal, {(2, 2): Reply(failure="stall")})
    held = await graph.ainvoke(question(rounds=5), context=BoundContext(bound=services))
    assert held["deliberation"]["rounds_held"] == 2
    assert "ran out of time after round 2" in held["report"]
    assert "Participant 2 (Devil's advocate) was absent in round 2" in held["report"]
    assert SYNTHESIS in held["report"]
    await services.aclose()


async def test_p71_a_rapporteur_that_takes_too_long_leaves_time_for_another(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    """Slow: waits a third of three seconds for the first rapporteur."""
    services = Services(make_settings(council_seconds=3))
    Table(rehearsal)
    rehearsal.script(FLASH, [Reply(text="They", failure="stall")])
    held = await graph.ainvoke(question(rounds=1), context=BoundContext(bound=services))
    assert "Synthesis by MODEL_LITE" in held["report"]
    assert "took more than 1 seconds" in held["report"]
    await services.aclose()


async def test_a_position_alone_is_a_contribution_and_a_tool_call_is_not(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    bare = Reply(text='{"stance": "Wait", "position": "We should wait.", "confidence": 40}')
    Table(rehearsal, {(1, 1): bare, (2, 1): Reply(calls=[Call("delegate_to_agent", {"task": "x"})])})
    result = (await graph.ainvoke(question(rounds=2), context=context))["deliberation"]
    assert result["rounds"][0]["contributions"][0]["text"] == "We should wait."
    assert result["rounds"][0]["absences"][0]["alias"] == "Participant 2"
    assert rehearsal.refusals == []
