"""P1, P2: thought signatures across long turns, an escalation and a restart."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.services import Services
from graphs.delegation import graph
from tests.conftest import FLASH, LITE
from tests.graphs.agents import LOOK, steps_of, task_of
from tests.graphs.test_echo_levels import climb

STEPS = 10


async def turn(services: Services, task: str, streamed: bool) -> dict[str, Any]:
    """Run a turn on a stored thread, invoked or streamed, and return its state."""
    agent = graph.copy(update={"checkpointer": await services.checkpointer()})
    config: Any = {"configurable": {"thread_id": "t"}}
    context = BoundContext(user_id="ada", bound=services, chat_id="c")
    if streamed:
        async for _ in agent.astream({"task": task}, config, context=context, stream_mode="messages"):
            pass
        return (await agent.aget_state(config)).values
    await agent.ainvoke({"task": task}, config, context=context)
    return (await agent.aget_state(config)).values


def lite(request: Request) -> Reply:
    """Five steps with parallel calls and thoughts, then an escalation; in later turns ten steps."""
    done, first = steps_of(request), "First" in task_of(request)
    if done < (STEPS // 2 if first else STEPS):
        return Reply(text=f"Step {done}.", calls=[LOOK] * (1 + done % 3), thought="hm", chunks=2)
    return climb("MODEL_FLASH") if first else Reply(text="Second answer.", chunks=2)


def flash(request: Request) -> Reply:
    """The remaining five steps."""
    if (done := steps_of(request)) < STEPS:
        return Reply(calls=[LOOK] * (1 + done % 3), thought="hm")
    return Reply(text="First answer.", thought="so", chunks=3)


def assert_signatures_are_whole(rehearsal: RehearsalServer) -> None:
    """Check both turns, the second of which ran after a restart."""
    assert rehearsal.refusals == []
    assert len(rehearsal.requests) == (5 + 1) + (5 + 1) + (STEPS + 1)
    for request in rehearsal.requests:
        foreign = request.model == FLASH  # the other model made five of the steps it sees
        assert request.skip_markers == (5 if foreign else 0)


@pytest.mark.parametrize("streamed", [False, True], ids=["ainvoke", "astream"])
async def test_p1_p2_no_signature_is_lost_or_invented(
    streamed: bool, rehearsal: RehearsalServer, make_settings: Any
) -> None:
    rehearsal.script(LITE, lite)
    rehearsal.script(FLASH, flash)
    services = Services(make_settings(delegate_max_calls=50, context_tokens=200_000))
    values = await turn(services, "First", streamed)
    assert values["outcome"]["text"] == "First answer."
    await services.aclose()
    services = Services(make_settings(delegate_max_calls=50, context_tokens=200_000))
    values = await turn(services, "Second", streamed)
    assert values["outcome"]["text"] == "Second answer."
    assert_signatures_are_whole(rehearsal)
    made = {m.response_metadata["cognition"]["model"] for m in values["messages"] if isinstance(m, AIMessage)}
    assert made == {f"google_genai:{LITE}", f"google_genai:{FLASH}"}
    await services.aclose()
