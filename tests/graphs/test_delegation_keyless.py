"""Rehearsed sub-agents: plain sentences, no key, and the real tools."""

import re
from typing import Any

import pytest

from cognition.context import BoundContext
from cognition.services import Services
from cognition.settings import Settings
from graphs.echo import graph
from tests.graphs.test_echo_levels import ask


class Demonstration:
    """A chat without a key that continues after each restart."""

    def __init__(self, settings: Settings) -> None:
        self.services = Services(settings)

    async def restart(self) -> None:
        """Restart the program."""
        await self.services.jobs.finish()
        await self.services.aclose()
        self.services = Services(self.services.settings)

    async def say(self, text: str) -> str:
        """Send a message and return the answer."""
        echo = graph.copy(update={"checkpointer": await self.services.checkpointer()})
        config: Any = {"configurable": {"thread_id": "c"}}
        context = BoundContext(bound=self.services)
        return str((await echo.ainvoke(ask(text), config, context=context))["messages"][-1].text)


@pytest.fixture
async def demonstration(tmp_path: Any) -> Any:
    demonstration = Demonstration(Settings(home=tmp_path / "home"))
    yield demonstration
    await demonstration.restart()
    await demonstration.services.aclose()


@pytest.mark.parametrize(
    ("task", "question", "answer", "done"),
    [
        (
            "delegate: plan a trip, and ask me where to go",
            "where to go?",
            "To Brest",
            "You answered: To Brest",
        ),
        (
            "Délègue : planifie un voyage et demande-moi la ville",
            "la ville ?",
            "Brest",
            "Vous avez répondu : Brest",
        ),
    ],
)
async def test_p74_a_question_is_asked_back_and_answered_after_a_restart(
    demonstration: Demonstration, task: str, question: str, answer: str, done: str
) -> None:
    asked = await demonstration.say(task)
    assert asked.startswith("[rehearsal] Status: pending_question")
    assert f"QUESTION: {question}" in asked
    await demonstration.restart()
    answered = await demonstration.say(answer)
    assert "Status: success" in answered
    assert done in answered
    assert len(set(re.findall(r"dlg_\w+", asked + answered))) == 1, "the same agent"


async def test_another_request_is_executed_while_a_question_is_open(demonstration: Demonstration) -> None:
    await demonstration.say("delegate: draft the notice and ask me which audience")
    assert "Remembered as" in await demonstration.say("remember that I live in Lille")


async def test_agents_use_the_real_tools_and_are_listed_and_closed(demonstration: Demonstration) -> None:
    await demonstration.say("remember that I live in Lyon")
    report = await demonstration.say("delegate: what do you know about me?")
    assert "I live in Lyon" in report
    sub_sid = re.findall(r"dlg_\w+", report)[0]
    assert "As Devil's advocate" in await demonstration.say(
        "ask the expert devils-advocate: shall we build it?"
    )
    listed = await demonstration.say("list the agents")
    assert sub_sid in listed
    assert "devils-advocate_" in listed
    assert "Closed" in await demonstration.say(f"close the agent {sub_sid}")
    assert sub_sid not in await demonstration.say("list the agents")
