"""Tests of the indexed conversation: complete turns, each indexed once, with the previous turn as context."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from cognition.errors import InvalidInput
from cognition.memory.session import conversation
from cognition.memory.session.conversation import CONVERSATION, exchanges
from cognition.memory.session.store import SessionMemory
from cognition.services import Services


@pytest.fixture
async def session(services: Services) -> SessionMemory:
    return await services.session()


def turn(number: int, question: str, answer: str) -> list[AnyMessage]:
    return [HumanMessage(question, id=f"h{number}"), AIMessage(answer, id=f"a{number}")]


THREAD = [
    *turn(1, "I keep a boat in Marseille.", "A sailing boat?"),
    *turn(2, "Yes, and its name?", "You never told me."),
    *turn(3, "What is the capital of Peru?", "Lima."),
]


async def texts(session: SessionMemory, query: str, **own: Any) -> list[str]:
    result = await session.search("ada", "c", query, source_id=CONVERSATION, **own)
    return [passage.text for passage in result.passages]


async def test_p55_each_complete_turn_is_indexed_once(session: SessionMemory) -> None:
    added = await session.conversation.index("ada", "c", THREAD)
    assert added == 3
    added = await session.conversation.index("ada", "c", [*THREAD, *turn(4, "And of Chile?", "Santiago.")])
    assert added == 1
    (whole,) = await texts(session, "capital", limit=100)
    assert whole.count("Lima.") == whole.count("Santiago.") == 1
    assert whole.index("Lima.") < whole.index("Santiago.")
    (source,) = (await session.sources("ada", "c")).sources
    assert (source.source_id, source.chunks, source.state) == (CONVERSATION, 4, "READY")


async def test_p55_a_turn_that_fails_to_store_is_not_marked_as_indexed(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(session._collection, "upsert", fails)
    with pytest.raises(OSError, match="no space"):
        await session.conversation.index("ada", "c", THREAD)
    monkeypatch.undo()
    assert await texts(session, "Marseille") == []
    added = await session.conversation.index("ada", "c", THREAD)
    assert added == 3
    assert "Lima." in "".join(await texts(session, "capital", limit=100))


async def test_a_turn_is_found_by_the_previous_turn(session: SessionMemory) -> None:
    thread = [
        *turn(1, "Tell me of the lighthouse of Alexandria.", "It was one of the seven wonders."),
        *turn(2, "How tall was it?", "About a hundred metres."),
        *(m for n in range(3, 9) for m in turn(n, f"What is {n} times 7?", f"{n * 7}.")),
    ]
    await session.conversation.index("ada", "c", thread)
    best = " ".join(await texts(session, "the lighthouse of Alexandria", limit=2))
    assert "How tall was it?" in best


async def test_only_the_text_of_complete_turns_is_indexed() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    call = AIMessage("Let me look.", tool_calls=[{"name": "f", "args": {}, "id": "1"}], id="a0")
    messages: list[AnyMessage] = [
        HumanMessage([{"type": "text", "text": "What is this?"}, picture], id="h1"),
        call,
        ToolMessage("SECRET", tool_call_id="1"),
        AIMessage([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A cat."}], id="a1"),
        HumanMessage("And now?", id="h2"),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "2"}], id="a2"),
    ]
    (exchange,) = exchanges(messages)
    assert exchange.message_id == "a1"
    assert exchange.text == "User: What is this?\n\nAssistant: Let me look.\n\nAssistant: A cat."


async def test_a_regenerated_answer_is_a_new_entry(session: SessionMemory) -> None:
    await session.conversation.index("ada", "c", THREAD)
    again = [*THREAD[:-1], AIMessage("Lima, on the Pacific.", id="other")]
    assert (await session.conversation.index("ada", "c", again)) == 1
    (whole,) = await texts(session, "Peru", limit=100)
    assert whole.count("capital of Peru") == 2


async def test_a_chat_continued_after_a_purge_is_indexed_again(session: SessionMemory) -> None:
    await session.conversation.index("ada", "c", THREAD)
    assert await session.purge("ada", "c") == 3
    assert (await session.sources("ada", "c")).total == 0
    added = await session.conversation.index("ada", "c", THREAD)
    assert added == 3
    assert len(await texts(session, "Lima", limit=100)) == 1


async def test_p60_a_session_closed_between_two_batches_of_turns_stays_empty(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "BATCH", 1)
    grow = session._catalogue.grow

    def grown(*args: Any) -> None:
        grow(*args)
        session._catalogue.remove("ada", "c")

    monkeypatch.setattr(session._catalogue, "grow", grown)
    with pytest.raises(InvalidInput):
        await session.conversation.index("ada", "c", THREAD)
    assert (await session.sources("ada", "c")).total == 0


async def test_the_end_of_a_long_turn_is_found(session: SessionMemory) -> None:
    long = "\n\n".join(f"Step {n} of the recipe asks for {n} spoons of flour." for n in range(80))
    answer = f"{long}\n\nSprinkle saffron at last."
    await session.conversation.index("ada", "c", turn(1, "The recipe?", answer))
    assert "saffron" in (await texts(session, "saffron", limit=3))[0]
    source = await session.source("ada", "c", CONVERSATION)
    assert source
    parts = await session.chunks("ada", "c", CONVERSATION, range(source.chunks))
    assert len(parts) > 2
    assert "".join(part.text[part.shared :] for part in parts) == f"User: The recipe?\n\nAssistant: {answer}"
