"""Nodes of the `ingestion` graph: receive files, extract their text, and route each to its destination."""

import asyncio
import logging
from math import inf
from reprlib import repr as short_repr
from typing import Any, Literal

from langgraph.errors import NodeError
from langgraph.runtime import Runtime
from langgraph.types import Command, Send
from typing_extensions import Unpack

from cognition.context import Context, context_of, identity_of
from cognition.dates import now
from cognition.documents.extraction import UnreadableFile
from cognition.errors import CognitionError, InvalidInput
from cognition.identity import check_chat
from cognition.ingestion.intake import open_intake
from cognition.ingestion.media import NoTranscription, can_be_shown, transcribe
from cognition.ingestion.routing import Destination, choose_destination, has_room_for_media, text_size
from cognition.ingestion.scanned_pages import read_document
from cognition.ingestion.summary import sum_up_source
from cognition.ingestion.text_extraction import write_text, write_transcription
from cognition.services import Services
from cognition.state.ingestion import FileState, IngestedFile, IngestionOutput, IngestionState, Received
from cognition.storage.disk.free_space import DiskFull
from cognition.storage.resources import Changes, Resource
from cognition.text.truncate import shorten

logger = logging.getLogger(__name__)

UNOPENED = "Web addresses are not opened. Download the page and add the file."
UNWRITTEN = (
    "The disk is full, so the file's status could not be saved. Free some space and add the file again."
)
EMBEDDING = "Still being embedded: it can be searched by words now, and by meaning once embedding is done."

LONGEST_REASON = 400
"""Maximum characters of an error message; it may quote the file."""


class ResourceDeleted(CognitionError):
    """The resource was deleted during its ingestion."""

    def __init__(self) -> None:
        super().__init__("It was deleted while it was being read.")


async def receive(state: IngestionState, runtime: Runtime[Context]) -> IngestionState:
    """Store and register the given files; later steps use their ids only.

    Raises:
        InvalidInput: If the user is blank, the run has no chat, or the input is invalid.
    """
    identity = identity_of(runtime)
    check_chat(identity.user_id, identity.chat_id)
    _check_input(state)
    intake = await open_intake(context_of(runtime).services())
    received: list[Received] = []
    for item in state.get("files") or ():
        received += await asyncio.to_thread(
            intake.receive, identity.user_id, identity.chat_id, item, state.get("message_id", "")
        )
    fill = state.get("context_fill", 0.0)
    return {"files": [], "message_id": "", "context_fill": fill, "received": received, "started_at": now()}


def send_files(state: IngestionState) -> list[Send] | Literal["report"]:
    """Return one branch per file that needs work."""
    ids = dict.fromkeys(one["resource_id"] for one in state["received"] if not one["known"])
    shared = FileState(context_fill=state["context_fill"], started_at=state["started_at"])
    return [Send("ingest_file", {**shared, "resource_id": id_}) for id_ in ids if id_] or "report"


async def extract(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Extract the text of a file, or ask a model to transcribe it; failures are registered."""
    resource, services = await _begin("extract", state, runtime)
    if await asyncio.to_thread(text_size, resource, services.files) is not None and not _is_partial(resource):
        if resource.error:
            await _update(resource, services, error="")  # the interruption came after this step
        return {}
    try:
        remark = await _read(resource, state["context_fill"], services, runtime)
    except (UnreadableFile, NoTranscription) as reason:
        remark = str(reason)
    await _update(resource, services, error=remark)
    return {}


async def decide(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Choose the file's destination by its size and the room in the context."""
    resource, services = await _begin("decide", state, runtime)
    destination = await asyncio.to_thread(
        choose_destination,
        resource,
        fill=state["context_fill"],
        since=state["started_at"],
        files=services.files,
        registry=await services.registry(),
        models=services.models,
    )
    return {"destination": destination}


def route_after_decide(state: FileState) -> Destination:
    """Return the chosen destination."""
    return state["destination"]


async def put_in_context(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Show the whole file in the prompt."""
    resource, services = await _begin("put_in_context", state, runtime)
    await _settle(resource, services, runtime, status="PUT_IN_CONTEXT")
    return {}


async def vectorize(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Make the file's text searchable in session memory."""
    resource, services = await _begin("vectorize", state, runtime)
    session = await services.session()

    def progress(chunks: int, share: float) -> None:
        _emit(runtime, resource, step="vectorize", chunks=chunks, share=share)

    saved = await session.save(
        resource.user_id,
        resource.chat_id,
        resource.id,
        services.files.text(resource),
        name=resource.name,
        created_at=resource.created_at,
        on_progress=progress,
    )
    try:
        await _update(resource, services, chunks=saved.chunks)
    except ResourceDeleted:
        await session.delete(resource.user_id, resource.chat_id, resource.id)
        raise
    return {}


async def sum_up(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Write the summary shown in the prompt, from excerpts of the file."""
    resource, services = await _begin("sum_up", state, runtime)
    summary = await sum_up_source(resource, services, runtime.stream_writer)
    await _settle(resource, services, runtime, status="VECTORIZED_SUM_UP", summary=summary)
    return {}


async def register_only(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Register the file with the reason why it was not read."""
    resource, services = await _begin("register_only", state, runtime)
    await _settle(resource, services, runtime, status="INDEXED")
    return {}


async def fail(state: FileState, error: NodeError, runtime: Runtime[Context]) -> Command[Literal["report"]]:
    """Register why a file's branch failed; other branches continue."""
    message = str(error.error)
    if not isinstance(error.error, (InvalidInput, DiskFull)):
        message = f"{type(error.error).__name__}: {message}"
    reason = shorten(message, LONGEST_REASON)
    logger.error("ingesting %s failed in %s", state["resource_id"], error.node, exc_info=error.error)
    services = context_of(runtime).services()
    registry = await services.registry()
    user_id = identity_of(runtime).user_id
    resource = await asyncio.to_thread(registry.get, user_id, state["resource_id"])
    try:
        if resource is not None and resource.status == "PUT_IN_CONTEXT":
            await _update(resource, services, error=reason)  # keep it in the prompt, where it was before
        elif resource is not None:
            await _settle(resource, services, runtime, status="FAILED", error=reason)
    except DiskFull:
        logger.exception(
            "could not save the status of %s; a later run ingests it again", state["resource_id"]
        )
    return Command(goto="report")


async def report(state: IngestionState, runtime: Runtime[Context]) -> IngestionOutput:
    """Report the result for each file."""
    return {"report": [await _ingested(one, runtime) for one in state["received"]]}


def _check_input(state: IngestionState) -> None:
    """Validate the input of a run, which can be any JSON.

    Raises:
        InvalidInput: If a field has the wrong type or range.
    """
    files: object = state.get("files") or []
    message_id: object = state.get("message_id", "")
    fill: object = state.get("context_fill", 0.0)
    if not isinstance(files, list):
        msg = (
            f"Invalid files {short_repr(files)}: expected a list of objects such as {{'path': 'report.pdf'}}."
        )
        raise InvalidInput(msg)
    if not isinstance(message_id, str):
        msg = f"Invalid message_id {short_repr(message_id)}: expected the id of a message, or no message_id."
        raise InvalidInput(msg)
    if isinstance(fill, bool) or not isinstance(fill, int | float) or not 0 <= fill < inf:
        msg = f"Invalid context_fill {short_repr(fill)}: expected a share such as 0.25, or no context_fill."
        raise InvalidInput(msg)


async def _begin(step: str, state: FileState, runtime: Runtime[Context]) -> tuple[Resource, Services]:
    """Return the branch's file as it is now, and the services its steps use."""
    services = context_of(runtime).services()
    registry = await services.registry()
    resource = await asyncio.to_thread(registry.get, identity_of(runtime).user_id, state["resource_id"])
    if resource is None:
        raise ResourceDeleted
    _emit(runtime, resource, step=step)
    return resource, services


async def _read(resource: Resource, fill: float, services: Services, runtime: Runtime[Context]) -> str:
    """Write the file's text unless models read the file itself; return a remark on anything left out."""
    files, models = services.files, services.models
    match resource.resource_type:
        case "weburl":
            return UNOPENED
        case "image" | "audio" | "video":
            registry = await services.registry()
            if await asyncio.to_thread(can_be_shown, resource, fill, models) and await asyncio.to_thread(
                has_room_for_media, resource, files, registry
            ):
                return ""
        case "document":
            return await read_document(resource, files, models, runtime.stream_writer)
        case _:
            return await asyncio.to_thread(write_text, resource, files)
    transcript = await transcribe(resource, files.original(resource), models, runtime.stream_writer)
    await asyncio.to_thread(write_transcription, resource, files, transcript)
    return ""


def _is_partial(resource: Resource) -> bool:
    """Return whether the file may hold more text than was read: pages that need a model."""
    return resource.resource_type == "document" and bool(resource.error)


async def _update(resource: Resource, services: Services, **changes: Unpack[Changes]) -> None:
    registry = await services.registry()
    if await asyncio.to_thread(registry.update, resource.user_id, resource.id, **changes) is None:
        raise ResourceDeleted


async def _settle(
    resource: Resource, services: Services, runtime: Runtime[Context], **changes: Unpack[Changes]
) -> None:
    """Register the file's progress and stream it to the run's clients."""
    await _update(resource, services, **changes)
    _emit(runtime, resource, status=changes["status"])


def _emit(runtime: Runtime[Context], resource: Resource, **fields: Any) -> None:
    runtime.stream_writer({"type": "ingest", "resource_id": resource.id, "name": resource.name, **fields})


async def _ingested(received: Received, runtime: Runtime[Context]) -> IngestedFile:
    """Return one entry of the report."""
    services = context_of(runtime).services()
    registry, user_id = await services.registry(), identity_of(runtime).user_id
    resource = await asyncio.to_thread(registry.get, user_id, received["resource_id"])
    return IngestedFile(
        name=received["name"],
        resource_id=received["resource_id"],
        known=received["known"],
        resource_type=resource.resource_type if resource else "",
        mime=resource.mime if resource else "",
        size=resource.size if resource else 0,
        status=resource.status if resource else "FAILED",
        chunks=resource.chunks if resource else 0,
        error=_reason(resource) if resource else received["error"] or str(ResourceDeleted()),
        note=await _note(resource, services) if resource else "",
    )


def _reason(resource: Resource) -> str:
    """Return the reason a file was not read; one still pending was not updated because the disk is full."""
    return resource.error or (UNWRITTEN if resource.status == "PENDING_INGESTION" else "")


async def _note(resource: Resource, services: Services) -> str:
    if resource.status != "VECTORIZED_SUM_UP":
        return ""
    session = await services.session()
    source = await session.source(resource.user_id, resource.chat_id, resource.id)
    return EMBEDDING if source and source.state == "INDEXING" else ""
