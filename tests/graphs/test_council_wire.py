"""The requests of a council to the models, and its data in streams and checkpoints."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.skills.vault import Vault
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


async def test_no_stream_and_no_checkpoint_contains_the_raw_messages_of_the_experts(
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
    text = "The same opinion from everyone in every round, at some length. " * 20
    table = Table(rehearsal, say=lambda who, when: opinion(text))
    result = (await graph.ainvoke(question(5, rounds=5), context=context))["deliberation"]
    for who in range(1, 6):
        reported = result["usage"]["participants"][f"Participant {who}"]["input_by_round"]
        steps = [after - before for before, after in pairwise(reported)]
        assert max(steps[1:]) - min(steps[1:]) <= 2, steps
        sent = [sum(map(len, [request.system, *request.texts])) for request in table.asked(who)]
        assert reported == pytest.approx([size / 4 for size in sent], abs=20)
    counted = sum(sum(spent["input_by_round"]) for spent in result["usage"]["participants"].values())
    assert result["usage"]["input"] == counted + result["usage"]["synthesis"]["input"]


async def test_an_interrupted_council_continues_with_the_contributions_so_far(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    table = Table(rehearsal)
    saver = InMemorySaver()
    council = graph.copy(update={"checkpointer": saver})
    await council.ainvoke(question(), CONFIG, context=context, interrupt_after=["gather"])
    assert len(rehearsal.requests) == 3
    result = await graph.copy(update={"checkpointer": saver}).ainvoke(None, CONFIG, context=context)
    assert "3 of 3 rounds were held" in result["report"]
    assert SYNTHESIS in result["report"]
    assert [request.texts[1] for request in table.asked(2)[1:]] == [opinion("Opinion 2 in round 1.").text] * 2
    assert "Opinion 1 in round 1." in table.asked(2)[1].texts[-1]
    assert len([r for r in rehearsal.requests if r.model == PRO]) == 9
    assert rehearsal.refusals == []


async def test_an_expert_deleted_during_an_interruption_is_absent(
    rehearsal: RehearsalServer, context: BoundContext
) -> None:
    vault = Vault(context.services().settings.home, "ada")
    skill = ("own", "Harbour master", "Knows the harbour.", "Think of boats.")
    await asyncio.to_thread(vault.save_skill, *skill)
    Table(rehearsal)
    saver = InMemorySaver()
    council = graph.copy(update={"checkpointer": saver})
    asked: Any = {**question(2), "participants": "architect, own, researcher"}
    await council.ainvoke(asked, CONFIG, context=context, interrupt_after=["gather"])
    await asyncio.to_thread(vault.delete_skill, "own")
    result = await graph.copy(update={"checkpointer": saver}).ainvoke(None, CONFIG, context=context)
    assert result["deliberation"]["outcome"] == "synthesis"
    assert (
        "Participant 2 (Harbour master) was absent in rounds 2, 3: Its skill 'own' was deleted"
        in result["report"]
    )
    assert "Participant 2 (Harbour master): Split it (70 %), as of round 1" in result["report"]
    assert result["deliberation"]["usage"]["calls"] == 3 + 2 + 2 + 1


async def test_p73_the_chats_summary_stays_in_the_prompt_when_the_history_outgrows_it(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(context_tokens=4_000))
    table = Table(rehearsal, say=lambda who, when: opinion(f"{who} in {when}. " + "word " * 400))
    asked: Any = question(3, rounds=5, messages=[{"role": "user", "content": "We are eleven people."}])
    await graph.ainvoke(asked, context=BoundContext(bound=services))
    shown = [[text.count("They run a monolith.") for text in request.texts] for request in table.asked(1)]
    assert [sum(counts) for counts in shown] == [1] * 5, "once in each prompt"
    assert len(shown[-1]) < 2 * 4 + 1, "the first round no longer fits the last prompt"
    assert rehearsal.refusals == []
    await services.aclose()


async def test_p73_contributions_are_shortened_to_fit_a_small_context(
    rehearsal: RehearsalServer, make_settings: Any
) -> None:
    services = Services(make_settings(context_tokens=8_000))
    table = Table(rehearsal, say=lambda who, when: opinion(f"{who} in {when}. " + "word " * 4_000))
    result = await graph.ainvoke(question(5, rounds=2), context=BoundContext(bound=services))
    assert result["deliberation"]["outcome"] == "synthesis"
    for request in (table.asked(1)[1], *table.rapporteurs()):
        newest = request.texts[-1]
        assert "left out" in newest
        assert all(f"{who} in " in newest for who in range(2, 6)), "a part of each contribution"
        assert len(newest) / 4 < 8_000 * 0.6
    await services.aclose()


async def test_repeated_calls_are_counted(rehearsal: RehearsalServer, context: BoundContext) -> None:
    busy = Reply(failure="rate_limit", retry_after=0.01)
    asked_before: set[int] = set()

    def say(who: int, when: int) -> Reply:
        first = who not in asked_before
        asked_before.add(who)
        return busy if first else opinion(f"Opinion {who}.")

    Table(rehearsal, say=say)
    result = (await graph.ainvoke(question(2, rounds=1), context=context))["deliberation"]
    assert result["usage"]["calls"] == len(rehearsal.requests) == 5
