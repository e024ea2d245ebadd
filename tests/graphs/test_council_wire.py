"""What a council sends to the models, and what streams and checkpoints hold of it."""

from itertools import pairwise
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer
from graphs.council import graph
from tests.conftest import PRO
from tests.graphs.table import SYNTHESIS, Table, opinion, question

CONFIG: Any = {"configurable": {"thread_id": "t"}}


@pytest.mark.parametrize("mode", ["invoke", "messages", "values"])
async def test_p1_p2_five_experts_in_three_rounds_send_back_what_they_signed(
    mode: Any, rehearsal: RehearsalServer, context: BoundContext
) -> None:
    table = Table(
        rehearsal, say=lambda who, when: opinion(f"Opinion {who}.", thought="Let me see.", chunks=3)
    )
    council = graph.copy(update={"checkpointer": InMemorySaver()})
    asked = question(5, messages=[{"role": "user", "content": "We are eleven people."}])
    if mode == "invoke":
        await council.ainvoke(asked, CONFIG, context=context)
    else:
        async for _part in council.astream(asked, CONFIG, context=context, stream_mode=mode):
            pass
    assert len(rehearsal.requests) == 5 * 3 + 2
    assert rehearsal.refusals == []
    assert [request.skip_markers for request in rehearsal.requests] == [0] * 17
    for who in range(1, 6):
        assert [len(request.signatures) for request in table.asked(who)] == [0, 1, 2]
    if mode == "messages":
        assert {r.method for r in rehearsal.requests} == {"streamGenerateContent"}


async def test_the_raw_messages_of_the_experts_leave_the_run_in_no_stream_and_no_checkpoint(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    Table(rehearsal, say=lambda who, when: opinion(f"Opinion {who}.", thought="A thought of mine."))
    saver = InMemorySaver()
    council = graph.copy(update={"checkpointer": saver})
    modes: Any = ["values", "updates", "custom", "messages", "tasks", "debug"]
    parts = [part async for part in council.astream(question(), CONFIG, context=context, stream_mode=modes)]
    signatures = {signature for request in rehearsal.requests for signature in request.signatures}
    stored = f"{saver.storage}{saver.blobs}{saver.writes}"
    assert signatures
    states = str([data for mode, data in parts if mode != "messages"])
    assert not any(signature in states + stored for signature in signatures)
    assert "A thought of mine." not in states + stored
    assert "You sit on a council" in str(rehearsal.requests[1].system)
    assert "You sit on a council" not in states + stored
    assert "Opinion 1." in stored


async def test_the_prompt_of_a_participant_grows_by_the_same_each_round_and_is_reported(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    text = "The same opinion, every time and of everybody, at some length. " * 20
    table = Table(rehearsal, say=lambda who, when: opinion(text))
    told = (await graph.ainvoke(question(5, rounds=5), context=context))["deliberation"]
    for who in range(1, 6):
        reported = told["usage"]["participants"][f"Participant {who}"]["input_by_round"]
        steps = [after - before for before, after in pairwise(reported)]
        assert max(steps[1:]) - min(steps[1:]) <= 2, steps
        sent = [sum(map(len, [request.system, *request.texts])) for request in table.asked(who)]
        assert reported == pytest.approx([size / 4 for size in sent], abs=20)
    counted = sum(sum(spent["input_by_round"]) for spent in told["usage"]["participants"].values())
    assert told["usage"]["input"] == counted + told["usage"]["synthesis"]["input"]


async def test_a_council_that_was_interrupted_goes_on_with_what_was_said(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    table = Table(rehearsal)
    saver = InMemorySaver()
    council = graph.copy(update={"checkpointer": saver})
    await council.ainvoke(question(), CONFIG, context=context, interrupt_after=["gather"])
    assert len(rehearsal.requests) == 3
    told = await graph.copy(update={"checkpointer": saver}).ainvoke(None, CONFIG, context=context)
    assert "3 of 3 rounds were held" in told["report"]
    assert SYNTHESIS in told["report"]
    assert [request.texts[1] for request in table.asked(2)[1:]] == ["Opinion 2 in round 1."] * 2
    assert "Opinion 1 in round 1." in table.asked(2)[1].texts[-1]
    assert len([r for r in rehearsal.requests if r.model == PRO]) == 9
    assert rehearsal.refusals == []
