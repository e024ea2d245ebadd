"""What becomes of a file: it is received, read, and shown whole, made searchable, or only registered."""

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
from cognition.ingestion.media import NoTranscription, put_into_words, shown_as_it_is
from cognition.ingestion.routing import Destination, destine, has_room_for_media, text_size
from cognition.ingestion.scanned_pages import read_document
from cognition.ingestion.summary import sum_up_source
from cognition.ingestion.text_extraction import keep_words, write_text
from cognition.services import Services
from cognition.state.ingestion import FileState, IngestedFile, IngestionOutput, IngestionState, Received
from cognition.storage.disk.free_space import DiskFull
from cognition.storage.resources import Changes, Resource
from cognition.text.truncate import shorten

logger = logging.getLogger(__name__)

UNOPENED = "Web addresses are not opened: download it and give the file."
UNWRITTEN = "The disk is full, and nothing could be noted of it: make some room and give it again."
EMBEDDING = "Still being embedded: a search finds its words already, and by meaning in a while."

LONGEST_REASON = 400
"""Characters of an error's own words: they may hold what is in the file."""


class ResourceDeleted(CognitionError):
    """The resource was deleted while it was dealt with."""

    def __init__(self) -> None:
        super().__init__("It was deleted while it was being read.")


async def receive(state: IngestionState, runtime: Runtime[Context]) -> IngestionState:
    """Store what came in the chat's files and register it; from here on there are ids only.

    Raises:
        InvalidInput: The run's user is blank, it has no chat, or its input is of no use.
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
    """Each file that there is something to do for goes its own way."""
    ids = dict.fromkeys(one["resource_id"] for one in state["received"] if not one["known"])
    shared = FileState(context_fill=state["context_fill"], started_at=state["started_at"])
    return [Send("ingest_file", {**shared, "resource_id": id_}) for id_ in ids if id_] or "report"


async def extract(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Read the text of a file, or have a model put it into words; what keeps it unread is registered."""
    resource, services = await _begin("extract", state, runtime)
    if await asyncio.to_thread(text_size, resource, services.files) is not None and not _is_partial(resource):
        if resource.error:
            await _update(resource, services, error="")  # it was given up later than here
        return {}
    try:
        remark = await _read(resource, state["context_fill"], services, runtime)
    except (UnreadableFile, NoTranscription) as reason:
        remark = str(reason)
    await _update(resource, services, error=remark)
    return {}


async def decide(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Choose where the file goes, by its size and what the context has room for."""
    resource, services = await _begin("decide", state, runtime)
    destination = await asyncio.to_thread(
        destine,
        resource,
        fill=state["context_fill"],
        since=state["started_at"],
        files=services.files,
        registry=await services.registry(),
        models=services.models,
    )
    return {"destination": destination}


def route_after_decide(state: FileState) -> Destination:
    """The way that was chosen."""
    return state["destination"]


async def put_in_context(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Leave the file whole in the prompt."""
    resource, services = await _begin("put_in_context", state, runtime)
    await _settle(resource, services, runtime, status="PUT_IN_CONTEXT")
    return {}


async def vectorize(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Make the file's text searchable in session memory."""
    resource, services = await _begin("vectorize", state, runtime)
    session = await services.session()

    def progress(chunks: int, share: float) -> None:
        _tell(runtime, resource, step="vectorize", chunks=chunks, share=share)

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
    """Write the summary that stands in the prompt for the file, from a few excerpts of it."""
    resource, services = await _begin("sum_up", state, runtime)
    summary = await sum_up_source(resource, services, runtime.stream_writer)
    await _settle(resource, services, runtime, status="VECTORIZED_SUM_UP", summary=summary)
    return {}


async def register_only(state: FileState, runtime: Runtime[Context]) -> FileState:
    """Leave the file in the registry, with the reason why it was not read."""
    resource, services = await _begin("register_only", state, runtime)
    await _settle(resource, services, runtime, status="INDEXED")
    return {}


async def fail(state: FileState, error: NodeError, runtime: Runtime[Context]) -> Command[Literal["report"]]:
    """Register why a file's branch broke; the others go on."""
    said = str(error.error)
    if not isinstance(error.error, (InvalidInput, DiskFull)):
        said = f"{type(error.error).__name__}: {said}"
    reason = shorten(said, LONGEST_REASON)
    logger.error("ingesting %s failed in %s", state["resource_id"], error.node, exc_info=error.error)
    services = context_of(runtime).services()
    registry = await services.registry()
    user_id = identity_of(runtime).user_id
    resource = await asyncio.to_thread(registry.get, user_id, state["resource_id"])
    try:
        if resource is not None and resource.status == "PUT_IN_CONTEXT":
            await _update(resource, services, error=reason)  # it stays in the prompt, where it was before
        elif resource is not None:
            await _settle(resource, services, runtime, status="FAILED", error=reason)
    except DiskFull:
        logger.exception("%s stays as it was, for the next run", state["resource_id"])
    return Command(goto="report")


async def report(state: IngestionState, runtime: Runtime[Context]) -> IngestionOutput:
    """Say what became of each file that came."""
    return {"report": [await _ingested(one, runtime) for one in state["received"]]}


def _check_input(state: IngestionState) -> None:
    """Refuse what a run may be given as its input, which is any JSON, and nothing can be done with."""
    files: object = state.get("files") or []
    message_id: object = state.get("message_id", "")
    fill: object = state.get("context_fill", 0.0)
    if not isinstance(files, list):
        msg = (
            f"Invalid files {short_repr(files)}: expected a list of objects such as {{'path': 'report.pdf'}}."
        )
        raise InvalidInput(msg)
    if not isinstance(message_id, str):
        msg = f"The message_id {short_repr(message_id)} is none: give the id of a message, or leave it out."
        raise InvalidInput(msg)
    if isinstance(fill, bool) or not isinstance(fill, int | float) or not 0 <= fill < inf:
        msg = f"The context_fill {short_repr(fill)} is none: give a share such as 0.25, or leave it out."
        raise InvalidInput(msg)


async def _begin(step: str, state: FileState, runtime: Runtime[Context]) -> tuple[Resource, Services]:
    """The branch's file as it is now, and what its steps stand on."""
    services = context_of(runtime).services()
    registry = await services.registry()
    resource = await asyncio.to_thread(registry.get, identity_of(runtime).user_id, state["resource_id"])
    if resource is None:
        raise ResourceDeleted
    _tell(runtime, resource, step=step)
    return resource, services


async def _read(resource: Resource, fill: float, services: Services, runtime: Runtime[Context]) -> str:
    """Write the file's text, unless models look at the file itself; returns what the text leaves out."""
    files, models = services.files, services.models
    match resource.resource_type:
        case "weburl":
            return UNOPENED
        case "image" | "audio" | "video":
            registry = await services.registry()
            if await asyncio.to_thread(shown_as_it_is, resource, fill, models) and await asyncio.to_thread(
                has_room_for_media, resource, files, registry
            ):
                return ""
        case "document":
            return await read_document(resource, files, models, runtime.stream_writer)
        case _:
            return await asyncio.to_thread(write_text, resource, files)
    words = await put_into_words(resource, files.original(resource), models, runtime.stream_writer)
    await asyncio.to_thread(keep_words, resource, files, words)
    return ""


def _is_partial(resource: Resource) -> bool:
    """Whether there may be more text in a file than was read: pages that no model was there for."""
    return resource.resource_type == "document" and bool(resource.error)


async def _update(resource: Resource, services: Services, **changes: Unpack[Changes]) -> None:
    registry = await services.registry()
    if await asyncio.to_thread(registry.update, resource.user_id, resource.id, **changes) is None:
        raise ResourceDeleted


async def _settle(
    resource: Resource, services: Services, runtime: Runtime[Context], **changes: Unpack[Changes]
) -> None:
    """Register where the file has come to, and tell the run's clients."""
    await _update(resource, services, **changes)
    _tell(runtime, resource, status=changes["status"])


def _tell(runtime: Runtime[Context], resource: Resource, **what: Any) -> None:
    runtime.stream_writer({"type": "ingest", "resource_id": resource.id, "name": resource.name, **what})


async def _ingested(received: Received, runtime: Runtime[Context]) -> IngestedFile:
    """One line of the report."""
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
    """Why a file was not read; one whose branch is over and that is as it came could not be written to."""
    return resource.error or (UNWRITTEN if resource.status == "PENDING_INGESTION" else "")


async def _note(resource: Resource, services: Services) -> str:
    if resource.status != "VECTORIZED_SUM_UP":
        return ""
    session = await services.session()
    source = await session.source(resource.user_id, resource.chat_id, resource.id)
    return EMBEDDING if source and source.state == "INDEXING" else ""
