import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from cognition.errors import InvalidInput
from cognition.ingestion.attachments import Attachment
from cognition.ingestion.batch import ingest_batch
from cognition.ingestion.intake import open_intake
from cognition.memory.session.store import SessionMemory
from cognition.memory.validation import UnknownSource
from cognition.services import Services
from cognition.sessions import close_session, closed_at, is_known, list_sessions, show_session
from cognition.settings import Settings
from cognition.storage.agent_threads import AgentThread
from cognition.storage.closures import Closures
from cognition.storage.resources import Resource
from graphs.ingestion import graph as ingestion

ROPE = "\n\n".join(
    f"Rope {n} of the harbour holds {n * 3} tonnes and was tested in spring." for n in range(90)
)


@pytest.fixture
async def services(make_settings: Callable[..., Settings]) -> AsyncIterator[Services]:
    """Services with a low limit for showing files whole, so that longer files are searched."""
    services = Services(make_settings(context_file_bytes=2_000))
    yield services
    await services.aclose()


@pytest.fixture
def give(services: Services) -> Callable[..., Awaitable[Resource]]:
    """Return a function that adds a text to a chat, by default of Ada, and ingests it."""

    async def give(text: str, chat: str = "one", user: str = "ada") -> Resource:
        intake = await open_intake(services)
        attachment = Attachment("ropes.txt", text.encode())
        resource, _ = await asyncio.to_thread(intake.take, user, chat, attachment)
        events = [event async for event in ingest_batch(ingestion, services, user, chat, [resource.id])]
        assert events[-1]["type"] == "ingested"
        assert events[-1]["resources"][0]["status"] in ("PUT_IN_CONTEXT", "VECTORIZED_SUM_UP")
        return resource

    return give


async def count_passages(session: SessionMemory, user: str, chat: str) -> int:
    """Return the number of passages that a search of a chat returns."""
    return len((await session.search(user, chat, "what does rope 42 hold?")).passages)


def files(services: Services) -> list[Path]:
    """Return the stored copies of all files."""
    return [path for path in (services.settings.home / "files").rglob("*") if path.is_file()]


async def test_the_content_of_a_session_is_listed(
    services: Services, give: Callable[..., Awaitable[Resource]]
) -> None:
    large, small = await give(ROPE), await give("The key hangs behind the table.", "two")
    await give("Bob's own.", "three", "bob")
    listed = await list_sessions(services, "ada")
    assert [row["chat_id"] for row in listed["sessions"]] == ["two", "one"]
    assert listed["sessions"][1]["sources"] == 1
    assert listed["sessions"][1]["bytes"] == len(ROPE)
    shown = await show_session(services, "ada", "one")
    assert [row["id"] for row in shown["resources"]] == [large.id]
    assert shown["sources"][0]["source_id"] == large.id
    assert shown["sources"][0]["state"] == "READY"
    assert (await show_session(services, "ada", "two"))["resources"][0]["id"] == small.id
    assert (await show_session(services, "bob", "one"))["resources"] == []


async def test_p48_the_content_of_a_closed_session_is_not_found_anywhere(
    services: Services, give: Callable[..., Awaitable[Resource]]
) -> None:
    resource = await give(ROPE)
    summary = await close_session(services, "ada", "one")
    assert (summary["resources"], summary["sources"], summary["chunks"] > 1) == (1, 1, True)
    session, registry = await services.session(), await services.registry()
    assert await count_passages(session, "ada", "one") == 0
    with pytest.raises(UnknownSource):
        await session.search("ada", "one", "rope", source_id=resource.id)
    assert await asyncio.to_thread(registry.get, "ada", resource.id) is None
    assert files(services) == []
    assert (await list_sessions(services, "ada"))["sessions"] == []
    again = await close_session(services, "ada", "one")
    assert (again["resources"], again["sources"]) == (0, 0)
    await give(ROPE)
    assert await count_passages(session, "ada", "one") > 0


async def test_p53_long_term_memories_are_kept(
    services: Services, give: Callable[..., Awaitable[Resource]]
) -> None:
    memory = await services.memory()
    await memory.write("ada", "one", "Profil d'Alignement", "I moor at quay 3", 3)
    await give(ROPE)
    await close_session(services, "ada", "one")
    assert [m.fact for m in (await memory.index("ada")).memories] == ["I moor at quay 3"]


async def test_p62_the_same_file_in_another_chat_is_kept(
    services: Services, give: Callable[..., Awaitable[Resource]]
) -> None:
    for user, chat in (("ada", "one"), ("ada", "two"), ("bob", "one")):
        await give(ROPE, chat, user)
    await close_session(services, "ada", "one")
    session = await services.session()
    assert await count_passages(session, "ada", "one") == 0
    for user, chat in (("ada", "two"), ("bob", "one")):
        assert await count_passages(session, user, chat) > 0
        shown = await show_session(services, user, chat)
        assert len(shown["resources"]) == len(shown["sources"]) == 1
    assert len([path for path in files(services) if path.name == "ropes.txt"]) == 2


@pytest.mark.parametrize("steps", range(4))
@pytest.mark.parametrize("completed_by", ["the chat itself", "the next closure"])
async def test_p48_an_interrupted_closure_is_completed(
    services: Services, give: Callable[..., Awaitable[Resource]], steps: int, completed_by: str
) -> None:
    await give(ROPE)
    closures, session = Closures(await services.database()), await services.session()
    registry = await services.registry()
    await asyncio.to_thread(closures.begin, "ada", "one")
    if steps > 0:
        await asyncio.to_thread(registry.purge, "ada", "one")
    if steps > 1:
        await asyncio.to_thread(services.files.purge, "ada", "one")
    if steps > 2:
        await session.purge("ada", "one")
    if completed_by == "the chat itself":
        assert await closed_at(services, "ada", "one") > 0
    else:
        await close_session(services, "bob", "another")
    assert await asyncio.to_thread(closures.unfinished) == []
    assert await count_passages(session, "ada", "one") == 0
    assert files(services) == []
    assert (await show_session(services, "ada", "one"))["resources"] == []
    later = await give(ROPE)
    await close_session(services, "bob", "another")
    assert [row["id"] for row in (await show_session(services, "ada", "one"))["resources"]] == [later.id]


async def test_p48_a_repeated_closure_does_not_delete_later_content(services: Services) -> None:
    session, begun, release = await services.session(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await release.wait()

    agent = AgentThread(user_id="ada", chat_id="one", sub_sid="dlg_1", role="agent")
    working = asyncio.create_task(services.agent_runs.run(agent.key, (agent.user_id, agent.chat_id), work()))
    await begun.wait()
    await session.save("ada", "one", "old", ROPE)
    closures = Closures(await services.database())
    closing = asyncio.create_task(close_session(services, "ada", "one"))
    while not await asyncio.to_thread(closures.unfinished):
        assert not closing.done()
    turn = asyncio.create_task(closed_at(services, "ada", "one"))
    release.set()
    await asyncio.gather(closing, working, return_exceptions=True)
    await session.save("ada", "one", "new", ROPE)
    assert await turn > 0
    listing = await session.sources("ada", "one")
    assert [source.source_id for source in listing.sources] == ["new"]


async def test_p47_a_chat_is_known_to_its_own_user(services: Services) -> None:
    session = await services.session()
    await session.save("ada", "one", "ropes", ROPE)
    assert await is_known(services, "ada", "one")
    assert not await is_known(services, "eve", "one")
    assert not await is_known(services, "ada", "two")


async def test_the_time_of_the_last_closure_is_recorded(services: Services) -> None:
    assert await closed_at(services, "ada", "one") == 0
    await close_session(services, "ada", "one")
    first = await closed_at(services, "ada", "one")
    assert first > 0
    await close_session(services, "ada", "one")
    assert await closed_at(services, "ada", "one") > first
    assert await closed_at(services, "bob", "one") == 0


@pytest.mark.parametrize(("user", "chat"), [("", "one"), (" ", "one"), ("ada", ""), ("ada", " \t")])
async def test_p47_a_blank_user_or_chat_is_rejected(
    services: Services, give: Callable[..., Awaitable[Resource]], user: str, chat: str
) -> None:
    await give(ROPE)
    with pytest.raises(InvalidInput, match="blank"):
        await close_session(services, user, chat)
    with pytest.raises(InvalidInput, match="blank"):
        await show_session(services, user, chat)
    assert await count_passages(await services.session(), "ada", "one") > 0


async def test_ingestion_waits_for_the_embedding_of_a_large_source(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cognition.memory.session.saver.LARGE", 1_000)
    intake, session = await open_intake(services), await services.session()
    resource, _ = await asyncio.to_thread(intake.take, "ada", "one", Attachment("ropes.txt", ROPE.encode()))
    events = [event async for event in ingest_batch(ingestion, services, "ada", "one", [resource.id])]
    source = await session.source("ada", "one", resource.id)
    assert source
    assert source.state == "READY"
    assert events[-1]["resources"][0]["chunks"] == source.chunks == source.embedded
    again = [event async for event in ingest_batch(ingestion, services, "ada", "one", [resource.id])]
    assert [event["type"] for event in again] == ["ingested"]


async def test_closing_the_event_stream_does_not_stop_the_work(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cognition.memory.session.saver.LARGE", 1_000)
    intake, session = await open_intake(services), await services.session()
    text = ROPE * 4
    resource, _ = await asyncio.to_thread(intake.take, "ada", "one", Attachment("ropes.txt", text.encode()))
    async with aclosing(ingest_batch(ingestion, services, "ada", "one", [resource.id])) as events:
        async for event in events:
            if event.get("step") in ("sum_up", "embed"):
                break
    await services.jobs.finish()
    await session.wait_until_indexed()
    source = await session.source("ada", "one", resource.id)
    assert source
    assert (source.state, source.embedded) == ("READY", source.chunks)
    registry = await services.registry()
    row = await asyncio.to_thread(registry.get, "ada", resource.id)
    assert row
    assert row.status == "VECTORIZED_SUM_UP"
