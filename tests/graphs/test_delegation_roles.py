"""Roles of sub-agents whose thread or skill was lost, or for which another role is requested."""

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.errors import InvalidInput
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.skills.skill import Skill
from cognition.skills.vault import Vault
from cognition.storage.agent_threads import AgentThread
from graphs.delegation import graph
from tests.conftest import LITE
from tests.graphs.agents import agents, delegate


async def baker(services: Services) -> Skill:
    """Save a skill of Ada's own."""
    vault = Vault(services.settings.home, "ada")
    return (await asyncio.to_thread(vault.save_skill, "baker", "Baker", "Bakes.", "You knead.")).skill


async def begin(services: Services, role: str, skill_id: str = "") -> None:
    """Add the index entry of a sub-agent that was killed before its first step was stored."""
    thread = AgentThread(user_id="ada", chat_id="c", sub_sid="dlg_1", role=role, skill_id=skill_id)
    await asyncio.to_thread((await services.threads()).begin, thread, "Go")


async def test_an_agent_whose_thread_is_lost_is_not_replaced_by_another(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    report = await delegate(services, "Bake", skill=await baker(services))
    (thread,) = await agents(services).open_threads()
    await (await services.checkpointer()).adelete_thread(thread.key)
    for attempt in (
        delegate(services, "What did I say?", sub_sid=report.sub_sid),
        agents(services).resume(report.sub_sid),
    ):
        with pytest.raises(InvalidInput, match=r"is lost.*close_agent_session"):
            await attempt
    assert await agents(services).open_threads() == [thread], "nothing was changed"
    assert len(rehearsal.requests) == 1
    await agents(services).close(report.sub_sid)


async def test_an_agent_killed_before_its_first_step_restarts_with_its_role(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    await begin(services, "Baker", (await baker(services)).skill_id)
    assert (await delegate(services, "Bake", sub_sid="dlg_1")).outcome["text"] == "Done."
    assert "You knead." in rehearsal.requests[-1].system
    assert rehearsal.requests[-1].texts == ["Bake"]


async def test_a_role_stored_only_in_the_lost_thread_must_be_given_again(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    await begin(services, "You count.")
    with pytest.raises(InvalidInput, match="is lost"):
        await delegate(services, "On", sub_sid="dlg_1")
    await delegate(services, "On", sub_sid="dlg_1", system_prompt="You count.\nSlowly.")
    assert "Slowly." in rehearsal.requests[-1].system


async def test_an_agent_whose_skill_was_deleted_accepts_no_task(
    rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    sub_sid = (await delegate(services, "Bake", skill=await baker(services))).sub_sid
    before = await agents(services).open_threads()
    await asyncio.to_thread(Vault(services.settings.home, "ada").delete_skill, "baker")
    with pytest.raises(
        InvalidInput, match=r"can't continue as 'Baker'\. Unknown skill 'baker'.*Create the skill"
    ):
        await delegate(services, "More", sub_sid=sub_sid)
    assert await agents(services).open_threads() == before
    await baker(services)
    await delegate(services, "Again", sub_sid=sub_sid)
    said = [message.text for message in await agents(services).messages(sub_sid)]
    assert said == ["Bake", "Done.", "Again", "Done."], "the rejected task is not in the thread"


@pytest.mark.parametrize(("first", "second"), [("architect", "researcher"), ("", "researcher")])
async def test_a_thread_of_the_graph_keeps_its_first_expert(
    first: str, second: str, rehearsal: RehearsalServer, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Done.")])
    agent = graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}}
    context = BoundContext(user_id="ada", bound=services)
    for skill_id in (first, second, second):
        await agent.ainvoke({"task": "Go", "skill_id": skill_id}, config, context=context)
    systems = {request.system for request in rehearsal.requests}
    assert len(systems) == 1
    assert ("<expertise" in systems.pop()) == bool(first)
