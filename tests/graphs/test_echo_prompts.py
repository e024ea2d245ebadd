"""Prompts from turn to turn, and search results that must not be stored again."""

from itertools import pairwise
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.rehearsal import Call, RehearsalServer, Reply
from cognition.services import Services
from cognition.settings import Settings
from cognition.storage.resources import Resource
from cognition.text.tokens import estimate_tokens
from graphs.echo import graph
from nodes.perception import SUMMARIES_SHARE, _shown
from tests.conftest import LITE
from tests.graphs.test_echo_files import REPORT, attached
from tests.graphs.test_echo_sessions import CONFIG, say


@pytest.fixture
def echo() -> Any:
    return graph.copy(update={"checkpointer": InMemorySaver()})


async def test_a_prompt_begins_as_the_last_one_did_up_to_its_newest_message(
    rehearsal: RehearsalServer, context: BoundContext, echo: Any
) -> None:
    """Providers cache the beginning of a prompt."""
    rehearsal.script(LITE, [Reply(text=f"Answer {n}.") for n in range(4)])
    await echo.ainvoke(attached("When did it freeze?", REPORT), CONFIG, context=context)
    for question in ("Sure?", "Really?", "Thanks."):
        await echo.ainvoke(say(question), CONFIG, context=context)
    first, *later = rehearsal.requests
    for request in later:
        assert request.system == first.system
        assert request.tools == first.tools
        assert "smart_context" in request.texts[0]
        assert "environnement_contexte" not in "".join(request.texts[:-1])
        assert "environnement_contexte" in request.texts[-1]
    for one, next_one in pairwise(later):
        begins = len(one.texts) - 1
        assert begins > 1
        assert next_one.body["contents"][:begins] == one.body["contents"][:begins]


async def test_p50_what_a_search_returned_is_not_stored_as_said(
    rehearsal: RehearsalServer, context: BoundContext, services: Services, echo: Any
) -> None:
    search = Call("search_sessions_context", {"query": "when did the harbour freeze?"})
    replies = [Reply(text="I see."), *[Reply(calls=[search]), Reply(text="In spring.")] * 2]
    rehearsal.script(LITE, replies)
    await echo.ainvoke(say("The harbour froze on 3 March."), CONFIG, context=context)
    await services.jobs.finish()
    for question in ("When?", "Again?"):
        await echo.ainvoke(say(question), CONFIG, context=context)
        await services.jobs.finish()
    assert "3 March" in rehearsal.requests[-1].responses[0][1]
    session = await services.session()
    (source,) = (await session.sources("ada", "t")).sources
    assert (source.source_id, source.chunks) == ("conversation_history", 3)
    found = await session.search("ada", "t", "harbour", limit=100)
    assert sum(passage.text.count("3 March") for passage in found.passages) == 1


def test_summaries_take_a_tenth_of_the_context_the_newest_first() -> None:
    settings = Settings(context_tokens=10_000)
    rows = [
        Resource(
            id=f"r{number}",
            user_id="ada",
            chat_id="c",
            name="a",
            resource_type="text",
            mime="text/plain",
            size=1,
            sha256="",
            status="PUT_IN_CONTEXT" if number == 9 else "VECTORIZED_SUM_UP",
            summary="word " * 240,
        )
        for number in range(10)
    ]
    shown = _shown(rows, settings)
    assert shown == ["r9", "r2", "r1", "r0"]
    assert 3 * estimate_tokens(rows[0].summary) <= 10_000 * SUMMARIES_SHARE
