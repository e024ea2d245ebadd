"""Ingestion of each kind of file, as a client of the graph sees it."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.storage.resources import Resource
from graphs.ingestion import graph
from tests.conftest import DISTILLATION
from tests.files import PNG, wav
from tests.unit.documents import samples

Give = Callable[..., Awaitable[list[dict[str, Any]]]]

PARAGRAPH = (
    "The harbour of Brest froze over in the winter of 1709, and the fleet stayed in port until March. "
)


def file(name: str, content: bytes | str) -> dict[str, Any]:
    data = content.encode() if isinstance(content, str) else content
    return {"name": name, "data": b64encode(data).decode()}


def thread(chat: str) -> Any:
    return {"configurable": {"thread_id": chat}}


without_words = pytest.mark.parametrize(
    "reply",
    [Reply(failure="rate_limit", retry_after=0.01), Reply(failure="blocked"), Reply(failure="empty")],
    ids=["429", "blocked", "empty"],
)
"""Run a test for each way in which a model can fail to read a file."""


@pytest.fixture
def give(services: Services) -> Give:
    """A function that adds files to a chat and returns the ingestion report."""

    async def ingest(
        *files: dict[str, Any], user: str = "ada", chat: str = "c", **more: Any
    ) -> list[dict[str, Any]]:
        context = BoundContext(user_id=user, bound=services)
        result = await graph.ainvoke({"files": list(files), **more}, thread(chat), context=context)
        report: list[dict[str, Any]] = result["report"]
        return report

    return ingest


async def row(services: Services, reported: dict[str, Any], user: str = "ada") -> Resource:
    registry = await services.registry()
    resource = await asyncio.to_thread(registry.get, user, reported["resource_id"])
    assert resource is not None
    return resource


async def test_a_short_text_is_put_in_the_context_without_any_model(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    (entry,) = await give(file("notes.md", "# Notes\n\nBuy tea."))
    assert (entry["status"], entry["resource_type"], entry["known"]) == ("PUT_IN_CONTEXT", "text", False)
    resource = await row(services, entry)
    assert resource.summary == "# Notes Buy tea."
    assert services.files.text(resource).read_text() == "# Notes\n\nBuy tea."
    assert rehearsal.requests == []


@pytest.mark.parametrize(
    ("encoding", "name"), [("utf-16", "a.txt"), ("latin-1", "b.csv"), ("utf-8-sig", "noending")]
)
async def test_p61_a_text_is_read_in_whatever_encoding(
    give: Give, services: Services, encoding: str, name: str
) -> None:
    text = "Été à Brest: où l'hiver gela la rade, les équipages restèrent à terre jusqu'au printemps.\n" * 4
    (entry,) = await give(file(name, text.encode(encoding)))
    assert entry["status"] == "PUT_IN_CONTEXT"
    assert services.files.text(await row(services, entry)).read_text() == text


async def test_a_note_and_a_content_block_are_taken_like_files(give: Give) -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(PNG).decode()}"}}
    report = await give({"type": "text", "text": "Call Ada."}, image)
    assert [(one["resource_type"], one["status"]) for one in report] == [
        ("note", "PUT_IN_CONTEXT"),
        ("image", "PUT_IN_CONTEXT"),
    ]


async def test_a_small_picture_is_left_to_the_model_that_answers(
    give: Give, rehearsal: RehearsalServer
) -> None:
    (entry,) = await give(file("photo", PNG))
    assert (entry["status"], entry["mime"], rehearsal.requests) == ("PUT_IN_CONTEXT", "image/png", [])


async def test_what_can_not_be_read_is_registered_with_the_reason(give: Give) -> None:
    report = await give(
        file("tool.exe", bytes(range(256)) * 40),
        file("fake.txt", b"\x7fELF" + bytes(range(256)) * 40),
        file("blank.md", " \n \n"),
        file("empty.md", ""),
        {"type": "image", "url": "https://example.org/cat.png"},
    )
    assert {one["status"] for one in report} == {"INDEXED"}
    assert [one["resource_type"] for one in report][:2] == ["binary", "binary"]
    for one, reason in zip(
        report, ("contains no text", "contains no text", "whitespace", "empty", "not opened"), strict=True
    ):
        assert reason in one["error"]


async def test_p60_the_same_content_is_dealt_with_once_whatever_it_is_called(give: Give) -> None:
    first, twin = await give(file("a.md", "Same."), file("b.md", "Same."))
    assert first["resource_id"] == twin["resource_id"]
    (again,) = await give(file("c.md", "Same."))
    assert again["resource_id"] == first["resource_id"]
    assert (again["known"], again["status"]) == (True, "PUT_IN_CONTEXT")


async def test_p47_two_users_with_the_same_file_have_nothing_in_common(
    give: Give, services: Services
) -> None:
    (hers,) = await give(file("a.md", "Same."))
    (his,) = await give(file("a.md", "Same."), user="bob")
    assert his["known"] is False
    assert his["resource_id"] != hers["resource_id"]
    registry = await services.registry()
    assert await asyncio.to_thread(registry.get, "bob", hers["resource_id"]) is None
    (rejected,) = await give({"resource_id": hers["resource_id"]}, user="bob")
    assert rejected["status"] == "FAILED"
    assert hers["resource_id"] in rejected["error"]


async def test_contents_are_nowhere_in_the_state(services: Services) -> None:
    ingestion = graph.copy(update={"checkpointer": InMemorySaver()})
    context = BoundContext(user_id="ada", bound=services)
    files = [file("a.md", "SECRET " * 40), {"type": "text", "text": "SECRET"}]
    await ingestion.ainvoke({"files": files}, thread("c"), context=context)
    state = await ingestion.aget_state(thread("c"))
    for content in ("SECRET", b64encode(b"SECRET SECRET").decode()[:12]):
        assert content not in str(state.values)
    assert len(state.values["report"]) == 2
    result = await ingestion.ainvoke({"files": []}, thread("c"), context=context)
    assert result["report"] == []  # a new run of the thread does not report files of an earlier run


async def test_p47_a_run_without_a_chat_or_a_user_is_refused(services: Services) -> None:
    with pytest.raises(ValueError, match="thread_id"):
        await graph.ainvoke({"files": []}, context=BoundContext(user_id="ada", bound=services))
    with pytest.raises(ValueError, match="blank"):
        await graph.ainvoke({"files": []}, thread("c"), context=BoundContext(user_id=" ", bound=services))


async def test_a_picture_too_large_to_show_is_described_by_a_model_and_searchable(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(DISTILLATION, [Reply(text="A red lighthouse on a grey rock, with the word ALBATROS.")])
    (entry,) = await give(file("photo.png", PNG + bytes(1 << 20)))
    assert (entry["status"], entry["chunks"]) == ("VECTORIZED_SUM_UP", 1)
    resource = await row(services, entry)
    assert "ALBATROS" in resource.summary
    (request,) = rehearsal.requests
    parts = request.body["contents"][-1]["parts"]
    assert "image/png" in [
        media.get("mimeType") or media.get("mime_type") for part in parts if (media := part.get("inlineData"))
    ]
    session = await services.session()
    results = await session.search("ada", "c", "lighthouse", source_id=resource.id)
    assert "ALBATROS" in results.passages[0].text


@without_words
async def test_a_recording_that_no_model_puts_into_words_is_registered_and_tried_again_when_it_comes_again(
    give: Give, services: Services, rehearsal: RehearsalServer, reply: Reply
) -> None:
    rehearsal.script(DISTILLATION, [reply])
    recording = file("call.wav", wav(seconds=40))
    (entry,) = await give(recording)
    assert (entry["status"], entry["resource_type"]) == ("INDEXED", "audio")
    assert entry["error"]
    rehearsal.script(DISTILLATION, [Reply(text="[00:01] Hello, this is the harbour master.")])
    (again,) = await give(recording)
    assert again["resource_id"] == entry["resource_id"]
    assert (again["status"], again["error"]) == ("VECTORIZED_SUM_UP", "")


async def test_a_scanned_pdf_is_transcribed(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(DISTILLATION, [Reply(text="## Page 1\n\nInvoice 4711")])
    (entry,) = await give(file("invoice.pdf", samples.pdf(["", ""])))
    assert (entry["status"], entry["resource_type"]) == ("PUT_IN_CONTEXT", "document")
    assert "4711" in services.files.text(await row(services, entry)).read_text()
    assert "scanned pages" in rehearsal.requests[0].system


async def test_a_transcription_that_was_cut_off_says_so(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(DISTILLATION, [Reply(text="## Page 1\n\nIt begins", failure="max_tokens")])
    (entry,) = await give(file("long.pdf", samples.pdf([""])))
    assert entry["status"] == "PUT_IN_CONTEXT"
    text = services.files.text(await row(services, entry)).read_text()
    assert text.startswith("## Page 1\n\nIt begins")
    assert "the rest of the file was not read" in text


async def test_a_pdf_with_text_needs_no_model(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    (entry,) = await give(file("letter", samples.pdf(["The fleet left on 4 May."])))
    assert (entry["status"], entry["mime"]) == ("PUT_IN_CONTEXT", "application/pdf")
    assert "4 May" in services.files.text(await row(services, entry)).read_text()
    assert rehearsal.requests == []


async def test_office_files_are_read_whatever_they_are_called(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    sentence = "The fleet left Brest on the fourth of May."
    report = await give(
        file("a.txt", samples.docx("Log", [sentence])),
        file("b", samples.pptx("Log", sentence)),
        file("c.pdf", samples.xlsx({"Log": [["day", "event"], [4, sentence]]})),
        file("d.zip", samples.epub("Log", [sentence])),
        file("e.htm", f"<html><body><h1>Log</h1><p>{sentence}</p></body></html>"),
    )
    assert {(one["resource_type"], one["status"]) for one in report} == {("document", "PUT_IN_CONTEXT")}
    for one in report:
        assert sentence in services.files.text(await row(services, one)).read_text()
    assert rehearsal.requests == []


async def test_p61_a_bomb_an_archive_and_a_locked_file_are_registered_with_the_reason(
    give: Give, rehearsal: RehearsalServer
) -> None:
    bomb = samples.docx("Log", ["x"], more={f"word/{part}.xml": bytes(40 << 20) for part in range(9)})
    report = await give(
        file("bomb.docx", bomb),
        file("letter.pdf", samples.pdf(["Secret."], encrypted=True)),
        file("all.zip", samples.archive({"a.txt": "one", "b.txt": "two"})),
    )
    assert {one["status"] for one in report} == {"INDEXED"}
    for one, reason in zip(report, ("unpacks to", "password", "zip"), strict=True):
        assert reason in one["error"]
    assert rehearsal.requests == []
