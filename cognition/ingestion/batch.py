"""Ingestion outside of a turn, which also waits for embedding in the background."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig

from cognition.context import BoundContext, Graph
from cognition.services import Services
from cognition.sessions import resource_row

POLL_SECONDS: Final = 0.5
"""Seconds between two progress reports on embedding."""

Events = AsyncGenerator[dict[str, Any]]


async def ingest_batch(
    graph: Graph, services: Services, user_id: str, chat_id: str, ids: Sequence[str]
) -> Events:
    """Ingest resources; yield the graph's events and finally the result for each resource.

    The work runs as a background job, which continues if the caller stops iterating.

    Args:
        graph: The `ingestion` graph.
        services: The services of the process.
        user_id: The user.
        chat_id: The chat.
        ids: The resources. Those that are already ingested, or that another job is ingesting, are only waited
            for.
    """
    jobs = services.jobs
    registry = await services.registry()
    registered = [await asyncio.to_thread(registry.get, user_id, id_) for id_ in dict.fromkeys(ids)]
    pending = [row.id for row in registered if row and not row.settled and not jobs.is_busy(row.id)]
    events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    work = _run(graph, services, user_id, chat_id, pending, events)
    job = jobs.start(work, f"ingestion in chat {chat_id}", pending)
    job.add_done_callback(lambda _: events.put_nowait(None))
    while (event := await events.get()) is not None:
        yield event
    await job
    async for event in _embedding_progress(services, user_id, chat_id, ids):
        yield event
    rows = [await asyncio.to_thread(registry.get, user_id, id_) for id_ in ids]
    yield {"type": "ingested", "resources": [resource_row(row) for row in rows if row]}


async def _run(
    graph: Graph,
    services: Services,
    user_id: str,
    chat_id: str,
    ids: Sequence[str],
    events: asyncio.Queue[dict[str, Any] | None],
) -> None:
    graph_input = {"files": [{"resource_id": id_} for id_ in ids]}
    config: RunnableConfig = {"configurable": {"thread_id": chat_id}}
    context = BoundContext(user_id=user_id, bound=services)
    stream = graph.astream(graph_input, config, context=context, stream_mode="custom", subgraphs=True)
    async for _branch, event in stream:
        events.put_nowait(cast("dict[str, Any]", event))


async def _embedding_progress(services: Services, user_id: str, chat_id: str, ids: Sequence[str]) -> Events:
    """Yield progress events until no job works on the resources and all of them are embedded."""
    session, jobs = await services.session(), services.jobs
    embedding: asyncio.Task[Any] | None = None
    while True:
        busy = any(jobs.is_busy(id_) for id_ in ids)
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
            # A job, so that embedding continues if the caller stops iterating.
            embedding = jobs.start(session.wait_until_indexed(), f"embedding for chat {chat_id}")
        await asyncio.wait({embedding}, timeout=POLL_SECONDS)
        if busy:
            await asyncio.sleep(POLL_SECONDS)
    if embedding is not None and embedding.done():
        await embedding
