"""Tests of session memory on a real engine with real embeddings."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cognition.dates import Period
from cognition.embedding.embedder import TextRole, Vectors
from cognition.errors import InvalidInput
from cognition.memory.session import saver as saving
from cognition.memory.session.store import SessionMemory
from cognition.memory.validation import UnknownSource
from cognition.services import Services
from cognition.text.tokens import estimate_tokens
from cognition.vectors import Filter, StampMismatch
from tests.unit.memory.long_term.test_refusals import NAUGHTY

CATS = "The cat Mitsou sleeps on the warm roof of the bakery.\n"
SHIPS = "The harbour of Rotterdam unloads thirty thousand ships a year.\n"


@pytest.fixture
async def session(services: Services) -> SessionMemory:
    return await services.session()


def numbered(name: str, count: int) -> str:
    """Return a text of several chunks, with the name in every paragraph."""
    return "\n\n".join(
        f"{name} paragraph {n} says that the {name} of number {n} weighs {n * 7} grams." for n in range(count)
    )


async def texts(
    session: SessionMemory, query: str, user: str = "ada", chat: str = "c", **own: Any
) -> list[str]:
    return [passage.text for passage in (await session.search(user, chat, query, **own)).passages]


async def points(session: SessionMemory, user: str = "ada") -> int:
    """Count all points of a user, visible or not."""
    return await session._collection.count(Filter(user))


async def test_a_saved_text_is_found_by_meaning_and_by_words(session: SessionMemory) -> None:
    await session.save("ada", "c", "cats", CATS)
    saved = await session.save("ada", "c", "ships", SHIPS, name="Ports", tags=["sea"], created_at=1.7e9)
    assert (saved.source_id, saved.chunks, saved.outcome, saved.state) == ("ships", 1, "new", "READY")
    result = await session.search("ada", "c", "Where does the animal rest?")
    assert result.passages[0].first.source_id == "cats"
    (best, *_) = (await session.search("ada", "c", "Rotterdam")).passages
    assert (best.text, best.lines, best.first.created_at) == (SHIPS, (1, 1), 1.7e9)
    assert 0.3 < best.score <= 1
    assert await texts(session, "Rotterdam", source_id="cats") == [CATS]


async def test_p60_saving_the_same_text_changes_nothing_and_a_shorter_one_leaves_no_old_chunks(
    session: SessionMemory, tmp_path: Path
) -> None:
    long = numbered("apple", 60)
    first = await session.save("ada", "c", "fruit", long)
    before = await session.source("ada", "c", "fruit")
    path = tmp_path / "elsewhere.txt"
    path.write_text(long)
    again = await session.save("ada", "c", "fruit", path)
    assert (again.outcome, again.chunks) == ("unchanged", first.chunks)
    assert await session.source("ada", "c", "fruit") == before
    shorter = await session.save("ada", "c", "fruit", "A pear weighs 9 grams.")
    assert (shorter.outcome, shorter.chunks) == ("replaced", 1)
    assert await texts(session, "apple paragraph 59") == ["A pear weighs 9 grams."]
    assert await points(session) == 1


async def test_a_reader_sees_either_the_old_text_or_the_new_one(session: SessionMemory) -> None:
    """Searches that run while a source alternates between two texts never see both or neither."""
    old, new = numbered("apple", 40), numbered("pear", 40)
    await session.save("ada", "c", "fruit", old)
    writing = asyncio.ensure_future(_alternate(session, [new, old, new, old]))
    seen = set()
    while not writing.done():
        result = await session.search("ada", "c", "weighs grams", limit=100, max_tokens=100_000)
        names = {name for passage in result.passages for name in ("apple", "pear") if name in passage.text}
        assert len(names) == 1
        (name,) = names
        (whole,) = [passage.text for passage in result.passages]
        assert whole == (old if name == "apple" else new)
        seen.add(name)
    await writing
    assert seen == {"apple", "pear"}


async def _alternate(session: SessionMemory, versions: Sequence[str]) -> None:
    for text in versions:
        await session.save("ada", "c", "fruit", text)


async def test_of_two_concurrent_saves_of_a_source_one_remains(session: SessionMemory) -> None:
    both = [numbered("apple", 20), numbered("pear", 20)]
    await asyncio.gather(*(session.save("ada", "c", "fruit", text) for text in both))
    (left,) = await texts(session, "weighs grams", limit=100)
    assert left in both
    assert (await session.sources("ada", "c")).total == 1


async def test_a_failed_embedding_keeps_the_previous_version_only(
    session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.save("ada", "c", "fruit", "A pear weighs 9 grams.")
    embed = session._embedder.embed
    calls = 0

    def fail_on_third_call(texts: Sequence[str], role: TextRole) -> Vectors:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise MemoryError("full")
        return embed(texts, role)

    monkeypatch.setattr(session._embedder, "embed", fail_on_third_call)
    for source in ("fruit", "new"):
        calls = 0
        with pytest.raises(MemoryError):
            await session.save("ada", "c", source, numbered("apple", 900))
    monkeypatch.undo()
    assert await texts(session, "apple grams") == ["A pear weighs 9 grams."]
    assert await points(session) == 1


async def test_a_cancelled_save_leaves_nothing(session: SessionMemory) -> None:
    begun = asyncio.Event()
    saving_task = asyncio.ensure_future(
        session.save("ada", "c", "fruit", numbered("apple", 900), on_progress=lambda *_: begun.set())
    )
    await begun.wait()
    saving_task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saving_task
    assert (await session.sources("ada", "c")).total == 0
    assert await points(session) == 0


async def test_a_source_deleted_while_it_is_saved_stays_deleted(session: SessionMemory) -> None:
    begun = asyncio.Event()
    saving_task = asyncio.ensure_future(
        session.save("ada", "c", "fruit", numbered("apple", 900), on_progress=lambda *_: begun.set())
    )
    await begun.wait()
    await session.purge("ada", "c")
    with pytest.raises(InvalidInput, match="was deleted while"):
        await saving_task
    assert await points(session) == 0


async def test_progress_reports_chunks_and_share(session: SessionMemory) -> None:
    progress: list[tuple[int, float]] = []
    saved = await session.save(
        "ada", "c", "fruit", numbered("apple", 900), on_progress=lambda *event: progress.append(event)
    )
    assert progress == sorted(progress)
    assert progress[-1] == (saved.chunks, 1.0)


async def test_p46_sources_are_listed_newest_first_and_counted(session: SessionMemory) -> None:
    for number, at in enumerate([300.0, 100.0, 400.0, 200.0]):
        await session.save("ada", "c", f"s{number}", numbered(f"thing{number}", 30), created_at=at)
    listing = await session.sources("ada", "c", limit=2)
    assert ([s.source_id for s in listing.sources], listing.total) == (["s2", "s0"], 4)
    assert all(source.chunks > 1 for source in listing.sources)
    between = await session.sources("ada", "c", period=Period(150.0, 300.0))
    assert ([s.source_id for s in between.sources], between.total) == (["s0", "s3"], 2)
    assert await texts(session, "thing2 weighs", period=Period(None, 99.0)) == []
    dated = await session.search("ada", "c", "weighs", period=Period(100.0, 100.0))
    assert {passage.first.source_id for passage in dated.passages} == {"s1"}


async def test_p47_users_and_chats_are_isolated(session: SessionMemory) -> None:
    await session.save("ada", "c", "cats", CATS)
    await session.save("ada", "other", "ships", SHIPS)
    for user, chat in (("bob", "c"), ("ad", "c"), ("bob", "other")):
        assert await texts(session, CATS, user, chat) == []
        assert await texts(session, CATS, user, chat, everywhere=True) == []
        assert (await session.sources(user, chat, everywhere=True)).total == 0
        with pytest.raises(UnknownSource, match="No source has the id 'cats'"):
            await session.delete(user, chat, "cats")
        with pytest.raises(UnknownSource):
            await session.chunks(user, chat, "cats", [0])
        assert await session.purge(user, chat) == 0
    with pytest.raises(UnknownSource):
        await session.delete("ada", "other", "cats")
    assert await texts(session, "Rotterdam") == [CATS]
    assert set(await texts(session, "Rotterdam", everywhere=True)) == {CATS, SHIPS}
    assert await texts(session, "Rotterdam", everywhere=True, source_id="ships") == [SHIPS]


@pytest.mark.parametrize(("user", "chat"), [("", "c"), (" ", "c"), (None, "c"), ("ada", ""), ("ada", " ")])
async def test_p47_a_missing_user_or_chat_is_rejected(user: Any, chat: str, session: SessionMemory) -> None:
    calls = (
        session.save(user, chat, "cats", CATS),
        session.search(user, chat, "cats", everywhere=True),
        session.sources(user, chat, everywhere=True),
        session.source(user, chat, "cats"),
        session.delete(user, chat, "cats"),
        session.purge(user, chat),
        session.conversation.index(user, chat, []),
    )
    for call in calls:
        with pytest.raises(ValueError, match="not blank"):
            await call


async def test_p48_a_deleted_source_is_not_found_anywhere(session: SessionMemory) -> None:
    await session.save("ada", "c", "cats", CATS)
    await session.save("ada", "c", "cats_2", SHIPS)
    assert await session.delete("ada", "c", "cats") == 1
    assert await texts(session, CATS, everywhere=True) == [SHIPS]
    assert await session.source("ada", "c", "cats") is None
    with pytest.raises(UnknownSource, match="The nearest ids are: 'cats_2'"):
        await session.search("ada", "c", "roof", source_id="cats")
    assert await points(session) == 1


async def test_p62_a_purge_deletes_the_sources_of_one_chat_only(session: SessionMemory) -> None:
    for chat in ("c", "d"):
        await session.save("ada", chat, "cats", CATS)
    await session.save("bob", "c", "cats", CATS)
    assert await session.purge("ada", "c") == 1
    assert await session.purge("ada", "c") == 0
    assert await texts(session, CATS) == []
    assert await texts(session, CATS, chat="d") == [CATS]
    assert await texts(session, CATS, user="bob") == [CATS]


async def test_p52_every_naughty_string_is_saved_or_rejected(session: SessionMemory) -> None:
    saved_texts: dict[str, str] = {}
    for text in NAUGHTY[::10]:
        with suppress(InvalidInput):
            saved = await session.save("ada", "c", text, f"{CATS}{text}", name=text, tags=[text])
            saved_texts[saved.source_id] = text
    assert len(saved_texts) > 40
    assert (await session.sources("ada", "c", limit=1_000)).total == len(saved_texts)
    for source_id in list(saved_texts)[::10]:
        assert len(await texts(session, "Mitsou", source_id=source_id)) == 1
        assert await session.delete("ada", "c", source_id) == 1


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "  "])
async def test_an_empty_text_is_rejected(text: str, session: SessionMemory) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        await session.save("ada", "c", "nothing", text)
    assert (await session.sources("ada", "c")).total == 0


@pytest.mark.parametrize("source_id", ["", " ", "x" * 201, "conversation_history", "a\nb"])
async def test_an_invalid_id_is_rejected(source_id: str, session: SessionMemory) -> None:
    with pytest.raises(InvalidInput):
        await session.save("ada", "c", source_id, CATS)


async def test_a_search_stays_within_its_budget(session: SessionMemory) -> None:
    await session.save("ada", "c", "fruit", numbered("apple", 900))
    for budget in (100, 500, 3_000):
        result = await session.search("ada", "c", "apple grams", limit=100, max_tokens=budget)
        assert result.passages
        assert result.omitted
        assert sum(estimate_tokens(passage.text) for passage in result.passages) <= budget


async def test_p40_another_model_is_rejected_and_stored_data_is_kept(
    session: SessionMemory, services: Services, make_settings: Any
) -> None:
    await session.save("ada", "c", "cats", CATS)
    await services.aclose()
    other = Services(make_settings(session_embedding="e5-small"))
    with pytest.raises(StampMismatch, match="'echo_session_rag' were created with 'use-multilingual'"):
        await other.session()
    await other.aclose()
    assert await texts(await services.session(), "Mitsou") == [CATS]


async def test_a_large_source_is_found_by_words_first_and_its_old_version_stays_until_it_is_ready(
    session: SessionMemory, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert saving.LARGE == 5_000_000
    monkeypatch.setattr(saving, "LARGE", 10_000)
    monkeypatch.setattr(session._indexer, "start", lambda: None)
    large = f"The needle Ypsilanti is here.\n\n{numbered('apple', 250)}"
    await session.save("ada", "c", "old", "An old text.")
    saved = await session.save("ada", "c", "new", large)
    assert (saved.state, saved.outcome) == ("INDEXING", "new")
    replacing = await session.save("ada", "c", "old", large)
    assert (replacing.state, replacing.outcome) == ("INDEXING", "replaced")
    assert (await session.save("ada", "c", "old", large)).outcome == "unchanged"
    result = await session.search("ada", "c", "Ypsilanti", source_id="new", limit=1)
    assert "Ypsilanti" in result.passages[0].text
    assert [source.source_id for source in result.indexing] == ["new"]
    assert await texts(session, "Ypsilanti", source_id="old") == ["An old text."]
    await services.aclose()  # the next start resumes embedding
    session = await services.session()
    await session.wait_until_indexed()
    for source_id in ("new", "old"):
        source = await session.source("ada", "c", source_id)
        assert source
        assert (source.state, source.embedded) == ("READY", source.chunks)
        every = range(source.chunks)
        assert set(await session.vectors("ada", "c", source_id, every)) == set(every)
    assert await points(session) == 2 * saved.chunks


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("今年开始的紫色河马计划由李雷主持。" + "本节介绍公司在各地区的业务情况。" * 20, "紫色河马计划"),
        ("โครงการฮิปโปสีม่วงเริ่มต้นในปีนี้ " + "บทนี้อธิบายสถานการณ์ธุรกิจ " * 20, "ฮิปโปสีม่วง"),
    ],
)
async def test_p42_text_without_spaces_is_found_by_words_after_an_english_title(
    text: str, query: str, session: SessionMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "LARGE", 1)
    monkeypatch.setattr(session._indexer, "start", lambda: None)  # lexical search only
    title = "# Annual report\n\nCopyright of Example Company Limited. All rights reserved. " * 4
    await session.save("ada", "c", "report", f"{title}\n\n{text}")
    assert query in "".join(await texts(session, query, limit=1))
