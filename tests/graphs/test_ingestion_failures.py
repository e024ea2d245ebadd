"""A file that fails does not stop the ingestion of the others, however the graph is run."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from cognition.concurrency.event_loop import wait_for
from cognition.context import BoundContext
from cognition.ingestion.attachments import Attachment
from cognition.ingestion.intake import open_intake
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.storage.disk.folder_lock import FolderLock
from graphs.ingestion import graph
from tests.conftest import DISTILLATION
from tests.files import wav
from tests.graphs.test_ingestion import Give, file, give, row, thread

__all__ = ["give"]

MODES = ["values", "updates", "custom", "messages", "tasks", "debug", "checkpoints"]


async def broken(services: Services, number: int) -> dict[str, Any]:
    """Add a file and delete its copy from disk."""
    intake = await open_intake(services)
    attachment = Attachment(f"{number}.md", f"{number}".encode())
    resource, _ = await asyncio.to_thread(intake.take, "ada", "c", attachment)
    await asyncio.to_thread(services.files.original(resource).unlink)
    return {"resource_id": resource.id}


async def mixed(services: Services, failing: int, of: int = 4) -> list[dict[str, Any]]:
    lost = [await broken(services, number) for number in range(failing)]
    return [*lost, *(file(f"{number}.md", f"text {number}") for number in range(failing, of))]


def outcomes(report: Sequence[dict[str, Any]]) -> list[str]:
    return [one["status"] for one in report]


@pytest.mark.parametrize("failing", [0, 1, 3, 4])
@pytest.mark.parametrize("mode", MODES)
async def test_p20_the_others_go_on_under_every_stream_mode(
    services: Services, failing: int, mode: Any
) -> None:
    context = BoundContext(user_id="ada", bound=services)
    files = await mixed(services, failing)
    report: list[dict[str, Any]] = []
    async for _, kind, part in graph.astream(
        {"files": files}, thread("c"), context=context, stream_mode=[mode, "updates"], subgraphs=True
    ):
        if kind == "updates" and "report" in part:
            report = part["report"]["report"]
    assert outcomes(report) == ["FAILED"] * failing + ["PUT_IN_CONTEXT"] * (4 - failing)
    assert all("FileNotFoundError" in one["error"] for one in report[:failing])
    assert all(one["error"] == "" for one in report[failing:])


@pytest.mark.parametrize("failing", [0, 1, 4])
def test_p20_invoke_works_as_ainvoke_does(make_settings: Any, failing: int) -> None:
    services = Services(make_settings())
    files = wait_for(mixed(services, failing))
    context = BoundContext(user_id="ada", bound=services)
    report = graph.invoke({"files": files}, thread("c"), context=context)["report"]
    assert outcomes(report) == ["FAILED"] * failing + ["PUT_IN_CONTEXT"] * (4 - failing)
    wait_for(services.aclose())


async def test_what_failed_is_taken_up_when_the_file_comes_again(give: Give, services: Services) -> None:
    lost = await broken(services, 1)
    (entry,) = await give(lost)
    assert entry["status"] == "FAILED"
    (again,) = await give(file("renamed.md", "1"))
    assert again["resource_id"] == lost["resource_id"]
    assert (again["status"], again["error"]) == ("PUT_IN_CONTEXT", "")


async def test_what_was_not_taken_is_reported_beside_what_was(give: Give) -> None:
    report = await give(
        {"path": "/etc/passwd"}, file("a.md", "Fine."), {"name": "b", "data": "§"}, {"path": 7}
    )
    assert outcomes(report) == ["FAILED", "PUT_IN_CONTEXT", "FAILED", "FAILED"]
    assert [bool(one["resource_id"]) for one in report] == [False, True, False, False]
    assert "COGNITION_FILE_ROOTS" in report[0]["error"]


async def test_without_a_key_a_recording_is_registered_and_says_what_would_help(make_settings: Any) -> None:
    services = Services(make_settings(GOOGLE_API_KEY=None, context_media_bytes=0))
    context = BoundContext(user_id="ada", bound=services)
    result = await graph.ainvoke({"files": [file("a.wav", wav(1))]}, thread("c"), context=context)
    (entry,) = result["report"]
    assert entry["status"] == "INDEXED"
    assert "GOOGLE_API_KEY" in entry["error"]
    await services.aclose()


async def test_a_recording_beyond_what_a_model_is_sent_says_so(
    give: Give, rehearsal: RehearsalServer
) -> None:
    (entry,) = await give(file("long.wav", wav(seconds=480)))
    assert entry["status"] == "INDEXED"
    assert "14 MiB" in entry["error"]
    assert rehearsal.requests == []


async def test_a_file_deleted_while_it_is_read_leaves_nothing_behind(
    services: Services, rehearsal: RehearsalServer
) -> None:
    registry, session = await services.registry(), await services.session()
    rehearsal.script(DISTILLATION, [Reply(text="[00:01] Too late.", latency=1)])
    files, context = [file("call.wav", wav(seconds=40))], BoundContext(user_id="ada", bound=services)
    report: list[dict[str, Any]] = []
    async for _, kind, part in graph.astream(
        {"files": files}, thread("c"), context=context, stream_mode=["custom", "updates"], subgraphs=True
    ):
        if kind == "custom" and part.get("step") == "extract":
            await asyncio.to_thread(registry.purge, "ada", "c")
            await asyncio.to_thread(services.files.purge, "ada", "c")
        if kind == "updates" and "report" in part:
            report = part["report"]["report"]
    assert outcomes(report) == ["FAILED"]
    assert "deleted" in report[0]["error"]
    assert (await session.sources("ada", "c")).total == 0
    assert [path for path in (services.settings.home / "files").rglob("*") if path.is_file()] == []


async def test_p23_a_second_run_of_a_thread_reports_its_own_files(give: Give, services: Services) -> None:
    await give(file("a.md", "First."))
    (entry,) = await give(file("b.md", "Second."))
    assert (await row(services, entry)).name == "b.md"


async def test_while_another_process_holds_the_vectors_short_files_are_shown_and_long_ones_wait(
    make_settings: Any, rehearsal: RehearsalServer
) -> None:
    services = Services(make_settings(context_file_bytes=500))
    context = BoundContext(user_id="ada", bound=services)
    files = [file("short.md", "Short."), file("long.md", "Buy good tea. " * 50)]
    lock = await asyncio.to_thread(FolderLock, services.settings.home)
    report = (await graph.ainvoke({"files": files}, thread("c"), context=context))["report"]
    assert outcomes(report) == ["PUT_IN_CONTEXT", "FAILED"]
    assert "is in use by process" in report[1]["error"]
    await asyncio.to_thread(lock.release)
    again = (await graph.ainvoke({"files": files}, thread("c"), context=context))["report"]
    assert outcomes(again) == ["PUT_IN_CONTEXT", "VECTORIZED_SUM_UP"]
    assert (again[1]["resource_id"], again[1]["error"]) == (report[1]["resource_id"], "")
    assert rehearsal.requests == []
    await services.aclose()
