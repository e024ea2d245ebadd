"""Deletion of a source: its file, and sources of the same name in other chats."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.messages import ToolCall
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from cognition.context import BoundContext, Context
from cognition.services import Services
from cognition.settings import Settings
from graphs.ingestion import graph as ingestion
from tools.session_memory import (
    delete_session_context_source,
    save_session_context,
    search_sessions_context,
)

TOOLS = [save_session_context, search_sessions_context, delete_session_context_source]
LOG = "The harbour froze on 3 March, and the fleet stayed in port until the thaw. " * 3

graph = (
    StateGraph(MessagesState, context_schema=Context)
    .add_node("tools", ToolNode(TOOLS))
    .add_edge(START, "tools")
    .add_edge("tools", END)
    .compile()
)


@pytest.fixture
async def services(make_settings: Callable[..., Settings]) -> AsyncIterator[Services]:
    """Services that put every file into session memory."""
    services = Services(make_settings(context_file_bytes=10))
    yield services
    await services.aclose()


async def call(services: Services, name: str, chat: str = "c", **args: Any) -> str:
    message = {"role": "ai", "content": "", "tool_calls": [ToolCall(name=name, args=args, id="1")]}
    config: Any = {"configurable": {"thread_id": chat}}
    context = BoundContext(user_id="ada", bound=services)
    given: Any = {"messages": [message]}
    return str((await graph.ainvoke(given, config, context=context))["messages"][-1].text)


async def give(services: Services, chat: str = "c") -> dict[str, Any]:
    file = {"name": "log.md", "data": b64encode(LOG.encode()).decode()}
    config: Any = {"configurable": {"thread_id": chat}}
    context = BoundContext(user_id="ada", bound=services)
    (told,) = (await ingestion.ainvoke({"files": [file]}, config, context=context))["report"]
    return dict(told)


async def test_a_file_whose_passages_were_deleted_says_so_and_is_searched_again_when_it_comes_again(
    services: Services,
) -> None:
    told = await give(services)
    assert told["status"] == "VECTORIZED_SUM_UP"
    id_ = told["resource_id"]
    assert "1 chunk" in await call(services, "delete_session_context_source", source_id=id_)
    registry = await services.registry()
    row = await asyncio.to_thread(registry.get, "ada", id_)
    assert row
    assert (row.status, row.chunks) == ("INDEXED", 0)
    assert "Add the file again" in row.error
    again = await give(services)
    assert (again["resource_id"], again["status"], again["error"]) == (id_, "VECTORIZED_SUM_UP", "")
    assert "3 March" in await call(services, "search_sessions_context", query="frost", source_id=id_)


async def test_p47_a_source_named_like_another_chats_file_changes_nothing_of_it(services: Services) -> None:
    id_ = (await give(services))["resource_id"]
    await call(services, "save_session_context", chat="d", source_id=id_, text="Mine.")
    assert "1 chunk" in await call(services, "delete_session_context_source", chat="d", source_id=id_)
    refused = await call(services, "delete_session_context_source", chat="d", source_id=id_)
    assert refused.startswith("Error: nothing was deleted.")
    registry = await services.registry()
    row = await asyncio.to_thread(registry.get, "ada", id_)
    assert row
    assert row.status == "VECTORIZED_SUM_UP"
