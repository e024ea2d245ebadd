"""The client that runs the graphs in this process."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, cast

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from apps.cli.client.chat_ids import thread_of
from apps.cli.client.events import CouncilResult, Event, MessageContent, Notice, council_events_of, events_of
from cognition.context import BoundContext, Context, Graph
from cognition.delegation.management import close_agent, list_agents, resume_agent, show_agent
from cognition.ingestion.batch import ingest_batch
from cognition.levels import Policy
from cognition.memory.long_term.listing import delete_memory, list_memories, undo_memory
from cognition.services import Services
from cognition.sessions import close_session, list_sessions, show_session
from cognition.state.council import CouncilInput
from graphs.council import graph as council
from graphs.delegation import graph as delegation
from graphs.echo import graph as echo
from graphs.ingestion import graph as ingestion


class LocalClient:
    """A client on the services of this process, which holds the home folder."""

    url = ""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._graph: Graph | None = None

    @property
    def rehearsed(self) -> bool:
        """True if the models are rehearsed."""
        return self._services.models.rehearsed

    async def turn(self, chat: str, content: MessageContent, context: Context) -> AsyncGenerator[Event]:
        """Send a message to a chat and yield the events of the turn."""
        graph = await self._echo()
        bound = BoundContext(**asdict(context), bound=self._services)
        stream = graph.astream(
            {"messages": [HumanMessage(cast("Any", content))]},
            _config(context.user_id, chat),
            context=bound,
            stream_mode=["messages", "custom", "updates"],
        )
        async with aclosing(cast("AsyncGenerator[tuple[str, Any]]", stream)) as parts:
            async for event in events_of(parts):
                yield event

    async def council(
        self, request: dict[str, Any], context: Context
    ) -> AsyncGenerator[Notice | CouncilResult]:
        """Hold a council and yield its events."""
        bound = BoundContext(**asdict(context), bound=self._services)
        stream = council.astream(
            cast("CouncilInput", request), context=bound, stream_mode=["custom", "values"]
        )
        async with aclosing(cast("AsyncGenerator[tuple[str, Any]]", stream)) as parts:
            async for event in council_events_of(parts):
                yield event

    async def messages(self, user_id: str, chat: str) -> list[AnyMessage]:
        """Return the messages of a chat, oldest first."""
        state = await (await self._echo()).aget_state(_config(user_id, chat))
        return cast("list[AnyMessage]", state.values.get("messages", []))

    async def ingest(self, user_id: str, chat: str, ids: Sequence[str]) -> AsyncGenerator[dict[str, Any]]:
        """Ingest resources of a chat and yield the events."""
        async with aclosing(
            ingest_batch(ingestion, self._services, user_id, thread_of(user_id, chat), ids)
        ) as events:
            async for event in events:
                yield event

    async def finish(self) -> None:
        """Wait for the background jobs of this process."""
        await self._services.jobs.finish()

    async def sessions(self, user_id: str) -> dict[str, Any]:
        """List a user's sessions."""
        return await list_sessions(self._services, user_id)

    async def show(self, user_id: str, chat: str) -> dict[str, Any]:
        """Return the contents of a session."""
        return await show_session(self._services, user_id, thread_of(user_id, chat))

    async def close(self, user_id: str, chat: str) -> dict[str, Any]:
        """Close a session and delete its contents."""
        return await close_session(self._services, user_id, thread_of(user_id, chat))

    async def agents(self, user_id: str, chat_id: str) -> dict[str, Any]:
        """List a user's sub-agents."""
        return await list_agents(self._services, user_id, chat_id)

    async def agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """Return a sub-agent with the messages of its thread."""
        return await show_agent(delegation, self._services, user_id, sub_sid)

    async def resume(
        self, user_id: str, sub_sid: str, text: str, policy: Policy | None
    ) -> AsyncGenerator[dict[str, Any]]:
        """Resume a sub-agent and yield its events."""
        async with aclosing(
            resume_agent(delegation, self._services, user_id, sub_sid, text, policy)
        ) as events:
            async for event in events:
                yield event

    async def close_agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """Close a sub-agent and delete its thread."""
        return await close_agent(delegation, self._services, user_id, sub_sid)

    async def memories(self, user_id: str, **query: Any) -> dict[str, Any]:
        """List or search a user's memories."""
        return await list_memories(await self._services.memory(), user_id, **query)

    async def delete(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Delete a memory permanently."""
        return await delete_memory(await self._services.memory(), user_id, memory_id)

    async def undo(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Restore the text that a memory had before its last change."""
        return await undo_memory(await self._services.memory(), user_id, memory_id)

    async def aclose(self) -> None:
        """Close the stores and release the home folder."""
        await self._services.aclose()

    async def _echo(self) -> Graph:
        if self._graph is None:
            await asyncio.to_thread(self._services.models.build_all)
            saver = await self._services.checkpointer()
            self._graph = echo.copy(update={"checkpointer": saver})
        return self._graph


def _config(user_id: str, chat: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_of(user_id, chat)}}
