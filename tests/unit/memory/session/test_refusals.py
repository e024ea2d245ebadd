"""Tests of input that session memory rejects: the message names the value, and nothing is changed."""

from collections.abc import Awaitable, Callable
from math import inf, nan
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from cognition.dates import Period
from cognition.errors import InvalidInput
from cognition.memory.session.store import SessionMemory
from cognition.memory.validation import MAX_COUNT
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


async def assert_rejected(session: SessionMemory, call: Call, value: object, message: str) -> None:
    """Assert that a value is rejected with a short message, and that stored data is unchanged."""
    before = await session.sources("ada", "c")
    with pytest.raises(InvalidInput, match=message) as error:
        await call(session, value)
    assert len(str(error.value)) < 300
    assert "\n" not in str(error.value)
    str(error.value).encode()  # the message can be sent to a model
    assert await session.sources("ada", "c") == before


OF_A_CHAT: list[Call] = [
    lambda session, chat: session.save("ada", chat, "new", SHIPS),
    lambda session, chat: session.search("ada", chat, "ships"),
    lambda session, chat: session.search("ada", chat, "ships", everywhere=True),
    lambda session, chat: session.sources("ada", chat),
    lambda session, chat: session.source("ada", chat, "ports"),
    lambda session, chat: session.chunks("ada", chat, "ports", [0]),
    lambda session, chat: session.vectors("ada", chat, "ports", [0]),
    lambda session, chat: session.delete("ada", chat, "ports"),
    lambda session, chat: session.purge("ada", chat),
    lambda session, chat: session.conversation.index("ada", chat, [HumanMessage("Hi"), AIMessage("Ho")]),
]


@pytest.mark.parametrize("chat", ["", " \n", None, 7, HALF, HALF * 10_000], ids=range(6))
async def test_p52_an_invalid_chat_is_rejected(chat: Any, session: SessionMemory) -> None:
    for call in OF_A_CHAT:
        await assert_rejected(session, call, chat, r"^Invalid chat .*: expected (a chat id|valid Unicode)")


OF_A_SOURCE: list[Call] = [
    lambda session, id_: session.save("ada", "c", id_, SHIPS),
    lambda session, id_: session.search("ada", "c", "ships", source_id=id_),
    lambda session, id_: session.sources("ada", "c", source_id=id_),
    lambda session, id_: session.source("ada", "c", id_),
    lambda session, id_: session.chunks("ada", "c", id_, [0]),
    lambda session, id_: session.vectors("ada", "c", id_, [0]),
    lambda session, id_: session.delete("ada", "c", id_),
]


@pytest.mark.parametrize("id_", [HALF, "a\0b", "a\nb", "x" * 201, " ", 7], ids=range(6))
async def test_p52_an_invalid_source_id_is_rejected(id_: Any, session: SessionMemory) -> None:
    for call in OF_A_SOURCE:
        await assert_rejected(
            session, call, id_, r"^Invalid source_id .*: expected 1 to 200 printable characters\."
        )


@pytest.mark.parametrize("nothing", ["", None])
async def test_deleting_without_an_id_does_not_delete_everything(
    nothing: Any, session: SessionMemory
) -> None:
    await assert_rejected(session, lambda s, id_: s.delete("ada", "c", id_), nothing, "Invalid source_id")


@pytest.mark.parametrize(
    "limit", [0, -1, -(2**70), MAX_COUNT + 1, 2**63, 2**100, 1.5, nan, inf, True, None, "9"]
)
async def test_p77_an_invalid_limit_is_rejected(limit: Any, session: SessionMemory) -> None:
    calls: dict[str, Call] = {
        "Invalid limit": lambda s, limit: s.search("ada", "c", "ships", limit=limit),
        "^Invalid limit": lambda s, limit: s.sources("ada", "c", limit=limit),
        "Invalid max_tokens": lambda s, limit: s.search("ada", "c", "ships", max_tokens=limit),
    }
    for message, call in calls.items():
        await assert_rejected(
            session, call, limit, rf"{message} .*: expected an integer from 1 to 1,000,000\."
        )


async def test_the_largest_limit_returns_all_sources(session: SessionMemory) -> None:
    assert (
        len((await session.search("ada", "c", "ships", limit=MAX_COUNT, max_tokens=MAX_COUNT)).passages) == 1
    )
    assert (await session.sources("ada", "c", limit=MAX_COUNT)).total == 1


@pytest.mark.parametrize("moment", [nan, inf, -inf, 1e300, 1e12, -1e12, "now"])
async def test_an_invalid_timestamp_is_rejected(moment: Any, session: SessionMemory) -> None:
    def save(session: SessionMemory, created_at: Any) -> Awaitable[object]:
        return session.save("ada", "c", "new", SHIPS, created_at=created_at)

    await assert_rejected(
        session, save, moment, r"^Invalid created_at .*: expected unix seconds in the years"
    )


@pytest.mark.parametrize("number", [-1, 1, 2**64, nan])
async def test_an_unknown_chunk_is_rejected(number: Any, session: SessionMemory) -> None:
    for call in (session.chunks, session.vectors):
        with pytest.raises(InvalidInput, match=r"'ports' has no chunk .*: it has 1, numbered from 0"):
            await call("ada", "c", "ports", [0, number])


@pytest.mark.parametrize("bound", [nan, inf, -inf])
def test_a_period_with_an_infinite_bound_is_rejected(bound: float) -> None:
    for bounds in ((bound, None), (None, bound)):
        with pytest.raises(InvalidInput, match=f"Invalid bound {bound} of a period"):
            Period(*bounds)


async def test_p52_lone_surrogates_are_stored_as_question_marks(session: SessionMemory) -> None:
    await session.save("ada", "c", "half", f"Mitsou {HALF} sleeps.", name=HALF, tags=[HALF])
    (passage, *_) = (await session.search("ada", "c", f"Mitsou {HALF}", source_id=" half ")).passages
    assert passage.text == "Mitsou a? sleeps."
    source = await session.source("ada", "c", "half")
    assert source
    assert (source.name, source.tags) == ("a?", ["a?"])


@pytest.mark.parametrize("metadata", [{"at": 1e300}, {"at": "soon"}, {"at": nan}, {}, "mine", None])
async def test_a_turn_with_invalid_metadata_is_indexed_once_with_the_current_time(
    metadata: object, session: SessionMemory
) -> None:
    messages = [
        HumanMessage("Who sleeps?"),
        AIMessage("Mitsou.", id=HALF, response_metadata={STAMP: metadata}),
    ]
    assert await session.conversation.index("ada", "c", messages) == 1
    assert await session.conversation.index("ada", "c", messages) == 0
    conversation = await session.source("ada", "c", "conversation_history")
    assert conversation
    assert 1.7e9 < conversation.first_at < 1e11
