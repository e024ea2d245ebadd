"""What session memory refuses: each in one sentence that names the value, with nothing changed."""

from collections.abc import Awaitable, Callable
from math import inf, nan
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from cognition.dates import Period
from cognition.errors import InvalidInput
from cognition.memory.session.store import SessionMemory
from cognition.memory.validation import MOST
from cognition.messages.history import STAMP
from cognition.services import Services

HALF = "a\ud83d"
SHIPS = "The harbour of Rotterdam unloads thirty thousand ships a year.\n"
Call = Callable[[SessionMemory, Any], Awaitable[object]]


@pytest.fixture
async def session(services: Services) -> SessionMemory:
    session = await services.session()
    await session.save("ada", "c", "ports", SHIPS)
    return session


async def refused(session: SessionMemory, call: Call, value: object, named: str) -> None:
    """Asserts that a value is refused by its name, shortly, and that what is stored stays as it was."""
    before = await session.sources("ada", "c")
    with pytest.raises(InvalidInput, match=named) as refusal:
        await call(session, value)
    assert len(str(refusal.value)) < 300
    assert "\n" not in str(refusal.value)
    str(refusal.value).encode()  # it can be sent to a model
    assert await session.sources("ada", "c") == before


OF_A_CHAT: list[Call] = [
    lambda session, chat: session.save("ada", chat, "new", SHIPS),
    lambda session, chat: session.search("ada", chat, "ships"),
    lambda session, chat: session.search("ada", chat, "ships", everywhere=True),
    lambda session, chat: session.sources("ada", chat),
    lambda session, chat: session.source("ada", chat, "ports"),
    lambda session, chat: session.fragments("ada", chat, "ports", [0]),
    lambda session, chat: session.vectors("ada", chat, "ports", [0]),
    lambda session, chat: session.delete("ada", chat, "ports"),
    lambda session, chat: session.purge("ada", chat),
    lambda session, chat: session.conversation.index("ada", chat, [HumanMessage("Hi"), AIMessage("Ho")]),
]


@pytest.mark.parametrize("chat", ["", " \n", None, 7, HALF, HALF * 10_000], ids=range(6))
async def test_p52_a_chat_that_is_none(chat: Any, session: SessionMemory) -> None:
    for call in OF_A_CHAT:
        await refused(session, call, chat, r"^The chat .* (is blank: run|holds half a character: pass)")


OF_A_SOURCE: list[Call] = [
    lambda session, id_: session.save("ada", "c", id_, SHIPS),
    lambda session, id_: session.search("ada", "c", "ships", source_id=id_),
    lambda session, id_: session.sources("ada", "c", source_id=id_),
    lambda session, id_: session.source("ada", "c", id_),
    lambda session, id_: session.fragments("ada", "c", id_, [0]),
    lambda session, id_: session.vectors("ada", "c", id_, [0]),
    lambda session, id_: session.delete("ada", "c", id_),
]


@pytest.mark.parametrize("id_", [HALF, "a\0b", "a\nb", "x" * 201, " ", 7], ids=range(6))
async def test_p52_a_source_id_that_can_be_none(id_: Any, session: SessionMemory) -> None:
    for call in OF_A_SOURCE:
        await refused(session, call, id_, r"^The source_id .* is no id: give 1 to 200 visible characters\.")


@pytest.mark.parametrize("nothing", ["", None])
async def test_to_delete_nothing_is_not_to_delete_all(nothing: Any, session: SessionMemory) -> None:
    await refused(session, lambda s, id_: s.delete("ada", "c", id_), nothing, "is no id")


@pytest.mark.parametrize("limit", [0, -1, -(2**70), MOST + 1, 2**63, 2**100, 1.5, nan, inf, True, None, "9"])
async def test_p77_a_limit_that_is_none(limit: Any, session: SessionMemory) -> None:
    calls: dict[str, Call] = {
        "The limit": lambda s, given: s.search("ada", "c", "ships", limit=given),
        "^The limit": lambda s, given: s.sources("ada", "c", limit=given),
        "The max_tokens": lambda s, given: s.search("ada", "c", "ships", max_tokens=given),
    }
    for named, call in calls.items():
        await refused(session, call, limit, rf"{named} .* is none: give a whole number from 1 to 1,000,000\.")


async def test_the_largest_limit_finds_what_there_is(session: SessionMemory) -> None:
    assert len((await session.search("ada", "c", "ships", limit=MOST, max_tokens=MOST)).passages) == 1
    assert (await session.sources("ada", "c", limit=MOST)).total == 1


@pytest.mark.parametrize("moment", [nan, inf, -inf, 1e300, 1e12, -1e12, "now"])
async def test_a_moment_that_no_calendar_has(moment: Any, session: SessionMemory) -> None:
    def save(session: SessionMemory, given: Any) -> Awaitable[object]:
        return session.save("ada", "c", "new", SHIPS, created_at=given)

    await refused(session, save, moment, r"^The created_at .* is none: give unix seconds of a year")


@pytest.mark.parametrize("number", [-1, 1, 2**64, nan])
async def test_a_chunk_that_a_source_has_not(number: Any, session: SessionMemory) -> None:
    for call in (session.fragments, session.vectors):
        with pytest.raises(InvalidInput, match=r"'ports' has no chunk .*: it has 1, numbered from 0"):
            await call("ada", "c", "ports", [0, number])


@pytest.mark.parametrize("bound", [nan, inf, -inf])
def test_a_period_without_a_moment_for_its_bound(bound: float) -> None:
    for bounds in ((bound, None), (None, bound)):
        with pytest.raises(InvalidInput, match=f"The bound {bound} of a period is no moment"):
            Period(*bounds)


async def test_p52_half_characters_of_a_text_are_kept_as_question_marks(session: SessionMemory) -> None:
    await session.save("ada", "c", "half", f"Mitsou {HALF} sleeps.", name=HALF, tags=[HALF])
    (passage, *_) = (await session.search("ada", "c", f"Mitsou {HALF}", source_id=" half ")).passages
    assert passage.text == "Mitsou a? sleeps."
    source = await session.source("ada", "c", "half")
    assert source
    assert (source.name, source.tags) == ("a?", ["a?"])


@pytest.mark.parametrize("note", [{"at": 1e300}, {"at": "soon"}, {"at": nan}, {}, "mine", None])
async def test_a_turn_with_a_foreign_note_is_indexed_once_as_of_now(
    note: object, session: SessionMemory
) -> None:
    said = [HumanMessage("Who sleeps?"), AIMessage("Mitsou.", id=HALF, response_metadata={STAMP: note})]
    assert await session.conversation.index("ada", "c", said) == 1
    assert await session.conversation.index("ada", "c", said) == 0
    conversation = await session.source("ada", "c", "conversation_history")
    assert conversation
    assert 1.7e9 < conversation.first_at < 1e11
