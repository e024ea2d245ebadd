"""What comes with a message: taken into the chat's files, and ingested by a job that may outlast the turn."""

import asyncio
from collections.abc import Sequence
from contextvars import copy_context
from typing import Any, Final, cast

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from cognition.context import Context, Graph, context_of, for_sub_agent, identity_of
from cognition.identity import Identity
from cognition.ingestion.attachments import attached, read_attachment, with_references
from cognition.ingestion.intake import Intake, open_intake
from cognition.models.retry import Notify
from cognition.prompts.attachments import reference_block, refusal_block
from cognition.storage.files import FileRejected

PATIENCE_SECONDS: Final = 20.0
"""How long a turn waits for its files; after that it goes on, and so does the job."""


async def take_in(message: HumanMessage, runtime: Runtime[Context]) -> tuple[HumanMessage, list[str]]:
    """Store the files of a message.

    Returns:
        The message with a reference in the place of each file, under the same id, and the resources' ids.
    """
    blocks = attached(message)
    if not blocks:
        return message, []
    intake = await open_intake(context_of(runtime).services())
    references, ids = await asyncio.to_thread(_take, blocks, message.id or "", intake, identity_of(runtime))
    return with_references(message, references), ids


async def ingest(
    arrived: Sequence[str],
    waiting: Sequence[str],
    fill: float,
    ingestion: Graph,
    runtime: Runtime[Context],
) -> None:
    """Ingest resources of the chat, and wait for it as long as a turn may.

    Args:
        arrived: What came with the message, waited for even where another turn's job is at it.
        waiting: What else there is to do; what a job is at already is left to it.
        fill: The part of the context that is taken, 0–1.
        ingestion: The `ingestion` graph.
        runtime: The run's.
    """
    jobs = context_of(runtime).services().jobs
    awaited = jobs.at(arrived)
    todo = [id_ for id_ in dict.fromkeys([*arrived, *waiting]) if not jobs.is_at(id_)]
    listening, run = True, copy_context()

    def tell(event: dict[str, Any]) -> None:
        if listening:
            run.run(runtime.stream_writer, event)  # it finds its stream by the run's own context

    if todo:
        given = {"files": [{"resource_id": id_} for id_ in todo], "context_fill": fill}
        work = _run(ingestion, given, for_sub_agent(runtime), tell)
        awaited.add(jobs.start(work, f"ingestion in chat {identity_of(runtime).chat_id}", todo))
    if awaited:
        await asyncio.wait(awaited, timeout=PATIENCE_SECONDS)
    listening = False  # the turn goes on, and its stream may end before the job does


async def _run(ingestion: Graph, given: dict[str, Any], context: Context, tell: Notify) -> None:
    stream = ingestion.astream(given, context=context, stream_mode="custom", subgraphs=True)
    async for _branch, event in stream:
        tell(cast("dict[str, Any]", event))


def _take(
    blocks: Sequence[dict[str, Any]], message_id: str, intake: Intake, identity: Identity
) -> tuple[list[str], list[str]]:
    references: list[str] = []
    ids: list[str] = []
    for given in blocks:
        try:
            if isinstance(known := given.get("file_id"), str):  # the command line's: stored already
                resource = intake.taken(identity.user_id, identity.chat_id, known)
            else:
                attachment = read_attachment(given, intake.limit)
                resource, _ = intake.take(identity.user_id, identity.chat_id, attachment, message_id)
        except FileRejected as refusal:
            references.append(refusal_block(str(refusal)))
            continue
        references.append(reference_block(resource))
        ids.append(resource.id)
    return references, ids
