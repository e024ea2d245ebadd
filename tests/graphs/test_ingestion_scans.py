"""PDFs with both text pages and scanned pages, as a client of the graph sees them."""

import asyncio
from base64 import urlsafe_b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cognition.context import BoundContext
from cognition.documents.extraction import extract
from cognition.documents.file_type import kind_of
from cognition.ingestion import media
from cognition.ingestion.scanned_pages import SKIPPED
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.settings import Settings
from graphs.ingestion import graph
from tests.conftest import DISTILLATION
from tests.graphs.test_ingestion import Give, file, give, row, thread, without_words
from tests.unit.documents.samples import pdf

__all__ = ["give"]

MIXED = file("minutes.pdf", pdf(["Minutes of 4 May.", "", "We meet again in June.", "", ""]))
TYPED = "## Page 1\n\nMinutes of 4 May.\n\n{}## Page 3\n\nWe meet again in June.\n\n{}"
READ = TYPED.format(
    "## Page 2\n\nInvoice 4711\n\n", "## Page 4\n\nA map of Brest\n\n## Page 5\n\nSigned: Ada\n\n"
)
WORDS = "## Page 1\n\nInvoice 4711\n\n## Page 2\n\nA map of Brest\n\n## Page 3\n\nSigned: Ada"


async def text(services: Services, entry: dict[str, Any]) -> str:
    return services.files.text(await row(services, entry)).read_text()


def sent(rehearsal: RehearsalServer) -> bytes:
    """Return the PDF in the last request."""
    parts = rehearsal.requests[-1].body["contents"][-1]["parts"]
    (shown,) = [part["inlineData"] for part in parts if "inlineData" in part]
    return urlsafe_b64decode(shown["data"])


def pages_of(content: bytes, folder: Path) -> tuple[int, tuple[int, ...]]:
    """Return the number of pages of a PDF and the numbers of its scanned pages."""
    path = folder / "sent.pdf"
    path.write_bytes(content)
    extracted = extract(path, kind_of(path), folder / "sent.md")
    return extracted.pages, extracted.missing


async def test_scanned_pages_are_transcribed_into_their_place(
    give: Give, services: Services, rehearsal: RehearsalServer, tmp_path: Path
) -> None:
    rehearsal.script(DISTILLATION, [Reply(text=WORDS)])
    (entry,) = await give(MIXED)
    assert (entry["status"], entry["error"]) == ("PUT_IN_CONTEXT", "")
    assert await text(services, entry) == READ
    assert len(rehearsal.requests) == 1
    assert await asyncio.to_thread(pages_of, sent(rehearsal), tmp_path) == (3, (1, 2, 3))


async def test_a_transcribed_page_of_a_long_pdf_is_found_by_what_it_says(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(DISTILLATION, [Reply(text="## Page 1\n\nThe lighthouse keeper is called Mitsou.")])
    typed = ["The fleet stayed in port until March.\n" * 40] * 30
    (entry,) = await give(file("log.pdf", pdf([*typed[:20], "", *typed[20:]])))
    assert (entry["status"], entry["error"]) == ("VECTORIZED_SUM_UP", "")
    session = await services.session()
    (best, *_) = (await session.search("ada", "c", "Who keeps the lighthouse?")).passages
    assert "Mitsou" in best.text


@without_words
async def test_what_no_model_reads_is_named_beside_the_text_and_tried_again_when_it_comes_again(
    give: Give, services: Services, rehearsal: RehearsalServer, reply: Reply
) -> None:
    rehearsal.script(DISTILLATION, [reply])
    (entry,) = await give(MIXED)
    assert entry["status"] == "PUT_IN_CONTEXT"
    assert entry["error"].startswith(
        "Pages 2, 4-5 of 5 could not be read as text. No model could read the file:"
    )
    assert await text(services, entry) == TYPED.format("", "")
    rehearsal.script(DISTILLATION, [Reply(text=WORDS)])
    (again,) = await give(MIXED)
    assert again["resource_id"] == entry["resource_id"]
    assert (again["status"], again["error"], again["known"]) == ("PUT_IN_CONTEXT", "", False)
    assert await text(services, again) == READ
    (known,) = await give(MIXED)
    assert known["known"]


async def test_without_a_key_the_text_is_read_and_the_scans_are_named(
    make_settings: Callable[..., Settings], rehearsal: RehearsalServer
) -> None:
    services = Services(make_settings(GOOGLE_API_KEY=None))
    context = BoundContext(user_id="ada", bound=services)
    files = [MIXED, file("scan.pdf", pdf(["", ""]))]
    mixed, scan = (await graph.ainvoke({"files": files}, thread("c"), context=context))["report"]
    reason = "No model is available to read this file. Set GOOGLE_API_KEY and add it again."
    assert mixed["status"] == "PUT_IN_CONTEXT"
    assert mixed["error"] == f"Pages 2, 4-5 of 5 could not be read as text. {reason}"
    assert (scan["status"], scan["error"]) == ("INDEXED", reason)
    assert rehearsal.requests == []
    await services.aclose()


async def test_where_the_model_was_cut_off_the_pages_after_that_are_named(
    give: Give, services: Services, rehearsal: RehearsalServer
) -> None:
    cut = Reply(text="## Page 1\n\nInvoice 4711\n\n## Page 2\n\nA map", failure="max_tokens")
    rehearsal.script(DISTILLATION, [cut])
    (entry,) = await give(MIXED)
    assert entry["error"] == f"Page 5 of 5 could not be read as text. {SKIPPED}"
    after = f"## Page 4\n\nA map\n\n{media.CUT_SHORT}\n\n"
    assert await text(services, entry) == TYPED.format("## Page 2\n\nInvoice 4711\n\n", after)


@pytest.mark.parametrize("words", ["All of it.", "## Page 2\n\nA\n\n## Page 1\n\nB", "## Page 7\n\nC"])
async def test_a_transcription_without_the_numbers_of_pages_stands_in_the_place_of_the_first(
    give: Give, services: Services, rehearsal: RehearsalServer, words: str
) -> None:
    rehearsal.script(DISTILLATION, [Reply(text=words)])
    (entry,) = await give(MIXED)
    assert entry["error"] == ""
    assert await text(services, entry) == TYPED.format(f"## Pages 2, 4-5\n\n{words}\n\n", "")


async def test_scans_too_large_for_a_request_are_named(
    give: Give, services: Services, rehearsal: RehearsalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "MAX_BYTES", 100)
    (entry,) = await give(MIXED)
    assert entry["error"].startswith("Pages 2, 4-5 of 5 could not be read as text. The pages take 0 MiB")
    assert await text(services, entry) == TYPED.format("", "")
    assert rehearsal.requests == []


async def test_blank_pages_need_no_model(give: Give, services: Services, rehearsal: RehearsalServer) -> None:
    (entry,) = await give(file("letter.pdf", pdf(["The fleet left.", None, "Yours, Ada", None])))
    assert (entry["status"], entry["error"]) == ("PUT_IN_CONTEXT", "")
    assert await text(services, entry) == "## Page 1\n\nThe fleet left.\n\n## Page 3\n\nYours, Ada\n\n"
    (blank,) = await give(file("blank.pdf", pdf([None, None])))
    assert (blank["status"], blank["error"]) == ("INDEXED", "'blank.pdf' contains only whitespace.")
    assert rehearsal.requests == []
