"""Store a message's attachments, and ingest them in a background job that may outlast the turn."""

import asyncio
from collections.abc import Sequence
from contextvars import copy_context
from typing import Any, Final, cast

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from cognition.context import Context, Graph, context_of, for_sub_agent, identity_of
from cognition.identity import Identity
from cognition.ingestion.attachments import file_blocks, read_attachment, with_references
from cognition.ingestion.intake import Intake, open_intake
from cognition.models.retry import Notify
from cognition.prompts.attachments import reference_block, rejection_block
from cognition.storage.files import FileRejected

PATIENCE_SECONDS: Final = 20.0
"""Seconds a turn waits for the ingestion of its files; the job continues after that."""


async def store_attachments(
    message: HumanMessage, runtime: Runtime[Context]
) -> tuple[HumanMessage, list[str]]:
    """Store the files of a message.

    Returns:
        The message with each file replaced by a reference, under the same id, and the resource ids.
    """
    blocks = file_blocks(message)
    if not blocks:
        return message, []
    intake = await open_intake(context_of(runtime).services())
    references, ids = await asyncio.to_thread(_store, blocks, message.id or "", intake, identity_of(runtime))
    return with_references(message, references), ids


async def ingest(
    arrived: Sequence[str],
    waiting: Sequence[str],
    fill: float,
    ingestion: Graph,
    runtime: Runtime[Context],
) -> None:
    """Ingest resources of the chat, waiting up to `PATIENCE_SECONDS`.

    Args:
        arrived: The message's resources; the turn waits for them even if another turn's job ingests them.
        waiting: Other resources to ingest, except those that a job is already ingesting.
        fill: The share of the context in use, 0 to 1.
        ingestion: The `ingestion` graph.
        runtime: The run's runtime.
    """
    jobs = context_of(runtime).services().jobs
    awaited = jobs.jobs_on(arrived)
    todo = [id_ for id_ in dict.fromkeys([*arrived, *waiting]) if not jobs.is_busy(id_)]
    listening, run = True, copy_context()

    def notify(event: dict[str, Any]) -> None:
        if listening:
            run.run(runtime.stream_writer, event)  # the graph finds its stream through the run's context

    if todo:
        payload = {"files": [{"resource_id": id_} for id_ in todo], "context_fill": fill}
        work = _run(ingestion, payload, for_sub_agent(runtime), notify)
        awaited.add(jobs.start(work, f"ingestion in chat {identity_of(runtime).chat_id}", todo))
    if awaited:
        await asyncio.wait(awaited, timeout=PATIENCE_SECONDS)
    listening = False  # the turn continues, and its stream may end before the job does


async def _run(ingestion: Graph, payload: dict[str, Any], context: Context, notify: Notify) -> None:
    stream = ingestion.astream(payload, context=context, stream_mode="custom", subgraphs=True)
    async for _branch, event in stream:
        notify(cast("dict[str, Any]", event))


def _store(
    blocks: Sequence[dict[str, Any]], message_id: str, intake: Intake, identity: Identity
) -> tuple[list[str], list[str]]:
    references: list[str] = []
    ids: list[str] = []
    for block in blocks:
        try:
            if isinstance(known := block.get("file_id"), str):  # the command line has stored this file
                resource = intake.existing(identity.user_id, identity.chat_id, known)
            else:
                attachment = read_attachment(block, intake.limit)
                resource, _ = intake.take(identity.user_id, identity.chat_id, attachment, message_id)
        except FileRejected as error:
            references.append(rejection_block(str(error)))
            continue
        references.append(reference_block(resource))
        ids.append(resource.id)
    return references, ids
