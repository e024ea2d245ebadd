"""Ingestion outside of a turn, to its end: what is embedded in the background is waited for."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig

from cognition.context import BoundContext, Graph
from cognition.services import Services
from cognition.sessions import resource_row

POLL_SECONDS: Final = 0.5
"""Between two looks at how far the embedding is."""

Events = AsyncGenerator[dict[str, Any]]


async def ingest_batch(
    graph: Graph, services: Services, user_id: str, chat_id: str, ids: Sequence[str]
) -> Events:
    """Ingest resources; yields what the graph tells, and in the end what became of each.

    The work is a job of the process: who stops listening does not stop it.

    Args:
        graph: The `ingestion` graph.
        services: What the graph stands on.
        user_id: Whose.
        chat_id: Of which chat.
        ids: Of the resources; those that are dealt with, or that a job is at, are waited for only.
    """
    jobs = services.jobs
    registry = await services.registry()
    known = [await asyncio.to_thread(registry.get, user_id, id_) for id_ in dict.fromkeys(ids)]
    todo = [row.id for row in known if row and not row.settled and not jobs.is_at(row.id)]
    told: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    work = _run(graph, services, user_id, chat_id, todo, told)
    job = jobs.start(work, f"ingestion in chat {chat_id}", todo)
    job.add_done_callback(lambda _: told.put_nowait(None))
    while (event := await told.get()) is not None:
        yield event
    await job
    async for event in _settling(services, user_id, chat_id, ids):
        yield event
    rows = [await asyncio.to_thread(registry.get, user_id, id_) for id_ in ids]
    yield {"type": "ingested", "resources": [resource_row(row) for row in rows if row]}


async def _run(
    graph: Graph,
    services: Services,
    user_id: str,
    chat_id: str,
    ids: Sequence[str],
    told: asyncio.Queue[dict[str, Any] | None],
) -> None:
    given = {"files": [{"resource_id": id_} for id_ in ids]}
    config: RunnableConfig = {"configurable": {"thread_id": chat_id}}
    context = BoundContext(user_id=user_id, bound=services)
    stream = graph.astream(given, config, context=context, stream_mode="custom", subgraphs=True)
    async for _branch, event in stream:
        told.put_nowait(cast("dict[str, Any]", event))


async def _settling(services: Services, user_id: str, chat_id: str, ids: Sequence[str]) -> Events:
    """Wait until nothing is at the resources any more, and tell how far their embedding is."""
    session, jobs = await services.session(), services.jobs
    embedding: asyncio.Task[Any] | None = None
    while True:
        busy = any(jobs.is_at(id_) for id_ in ids)
        sources = [await session.source(user_id, chat_id, id_) for id_ in ids]
        indexing = [source for source in sources if source and source.state == "INDEXING"]
        if not busy and (not indexing or (embedding is not None and embedding.done())):
            break
        for source in indexing:
            yield {
                "type": "ingest",
                "resource_id": source.source_id,
                "name": source.name,
                "step": "embed",
                "chunks": source.embedded,
                "share": source.embedded / source.chunks,
            }
        if embedding is None or embedding.done():
            # A job, for whoever stops listening here must not stop it.
            embedding = jobs.start(session.indexed(), f"embedding for chat {chat_id}")
        await asyncio.wait({embedding}, timeout=POLL_SECONDS)
        if busy:
            await asyncio.sleep(POLL_SECONDS)
    if embedding is not None and embedding.done():
        await embedding
