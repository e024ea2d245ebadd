"""Limits of the prompt, and runs without a thread."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime

from cognition.context import BoundContext, Context
from cognition.errors import InvalidInput
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.settings import Settings
from cognition.storage.disk.free_space import DiskFull
from graphs.echo import graph
from nodes import tool_results as results
from nodes.tool_results import LONGEST_RESULT, without_long_results
from tests.conftest import DISTILLATION, LITE
from tests.files import PNG
from tests.graphs.test_echo_files import attached
from tests.graphs.test_echo_sessions import CONFIG, say
from tests.graphs.test_ingestion import Give, file, give

__all__ = ["give"]

PAGE = "<html><head><style>" + "p { color: grey } " * 300 + "</style></head><body><p>Ice.</p></body></html>"


@pytest.mark.parametrize(
    ("size", "fill", "status"),
    [
        (2_000, 0.0, "PUT_IN_CONTEXT"),
        (3_000, 0.29, "PUT_IN_CONTEXT"),
        (3_000, 0.3, "VECTORIZED_SUM_UP"),
        (2_000, 0.3, "PUT_IN_CONTEXT"),
        (2_000, 0.6, "VECTORIZED_SUM_UP"),
    ],
)
async def test_the_fuller_the_context_the_smaller_a_file_that_goes_into_it(
    give: Give, size: int, fill: float, status: str
) -> None:
    (told,) = await give(file("a.md", "word " * (size // 5)), context_fill=fill)
    assert told["status"] == status


async def test_many_small_files_do_not_fill_the_context(make_settings: Callable[..., Settings]) -> None:
    services = Services(make_settings(context_tokens=4_000))
    context = BoundContext(user_id="ada", bound=services)
    from graphs.ingestion import graph as ingestion  # noqa: PLC0415

    files = [file(f"{number}.md", f"{number} " + "word " * 300) for number in range(14)]
    report = (await ingestion.ainvoke({"files": files}, CONFIG, context=context))["report"]
    whole = [one for one in report if one["status"] == "PUT_IN_CONTEXT"]
    assert 3 <= len(whole) <= 8
    assert {one["status"] for one in report} == {"PUT_IN_CONTEXT", "VECTORIZED_SUM_UP"}
    await services.aclose()


async def test_pictures_that_a_request_can_not_carry_beside_the_others_are_described(
    give: Give, rehearsal: RehearsalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cognition.ingestion.routing.MOST_SHOWN", 2 * len(PNG) + 2)
    rehearsal.script(DISTILLATION, [Reply(text="A red pixel.")])
    told = [(await give(file(f"{name}.png", PNG + name.encode())))[0] for name in "abc"]
    assert [one["status"] for one in told] == ["PUT_IN_CONTEXT", "PUT_IN_CONTEXT", "VECTORIZED_SUM_UP"]
    rehearsal.script(DISTILLATION, [Reply(failure="blocked")])
    (refused,) = await give(file("d.png", PNG + b"d"))
    assert refused["status"] == "INDEXED"
    assert refused["error"]


async def test_a_file_of_little_text_stays_whatever_the_size_of_its_original(
    rehearsal: RehearsalServer, make_settings: Callable[..., Settings]
) -> None:
    services = Services(make_settings(context_tokens=20_000))
    context = BoundContext(user_id="ada", bound=services)
    echo = graph.copy(update={"checkpointer": InMemorySaver()})
    rehearsal.script(LITE, [Reply(text="Ice.")])
    await echo.ainvoke(attached("What is this?", PAGE, "page.html"), CONFIG, context=context)
    await echo.ainvoke(say("word " * 6_000), CONFIG, context=context)
    for _ in range(2):
        await echo.ainvoke(say("And?"), CONFIG, context=context)
        request = rehearsal.requests[-1]
        assert 'mode="put_in_context"' in request.texts[0]
        assert "evenement_systeme" not in request.texts[-1]
    await services.aclose()


def long_result(text: str = "") -> ToolMessage:
    return ToolMessage(text or "word " * LONGEST_RESULT, tool_call_id="c1", name="delegate_to_agent")


async def test_a_long_result_of_a_run_on_no_thread_stays_where_it_is(context: BoundContext) -> None:
    runtime: Runtime[Context] = Runtime(context=context)
    message = long_result()
    assert await without_long_results([message], runtime) == [message]


@pytest.mark.parametrize("error", [DiskFull("no room"), OSError("no space"), InvalidInput("it is blank")])
async def test_p21_a_long_result_that_can_not_be_kept_aside_stays(
    context: BoundContext, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    session = await context.services().session()

    async def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(session, "save", fails)
    bound = BoundContext(user_id="ada", bound=context.services(), chat_id="c")
    message = long_result()
    assert await without_long_results([message], Runtime(context=bound)) == [message]


@pytest.mark.parametrize(("tokens", "moved"), [(LONGEST_RESULT, False), (LONGEST_RESULT + 1, True)])
async def test_results_are_moved_from_2000_tokens_on(context: BoundContext, tokens: int, moved: bool) -> None:
    bound = BoundContext(user_id="ada", bound=context.services(), chat_id="c")
    (message,) = await without_long_results([long_result("ice " * tokens)], Runtime(context=bound))
    assert ("moved to session memory" in message.text) is moved
    assert ('source_id="' in message.text) is moved
    budgeted = [ToolMessage("ice " * 9_000, tool_call_id="c2", name=name) for name in results.BUDGETED]
    assert await without_long_results(budgeted, Runtime(context=bound)) == budgeted


async def test_a_run_on_no_thread_answers_and_leaves_nothing_and_takes_no_file(
    rehearsal: RehearsalServer, context: BoundContext, services: Services
) -> None:
    rehearsal.script(LITE, [Reply(text="Hello.")])
    told = await graph.ainvoke({"messages": [HumanMessage("Hi")]}, context=context)
    assert told["messages"][-1].text == "Hello."
    await services.jobs.finish()
    session = await services.session()
    assert (await session.sources("ada", "any", everywhere=True)).total == 0
    with pytest.raises(InvalidInput, match="thread_id"):
        await graph.ainvoke(attached("What is this?", "Ice."), context=context)
    registry = await services.registry()
    assert await asyncio.to_thread(registry.of_user, "ada") == []
