"""The client for a LangGraph server that holds the home folder."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import asdict
from typing import Any, Final, cast
from urllib.parse import quote

import httpx
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, convert_to_messages
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIError
from langgraph_sdk.schema import StreamMode, StreamPart

from apps.cli.client.chat_ids import thread_of
from apps.cli.client.events import (
    CouncilResult,
    Event,
    MessageContent,
    Notice,
    TurnFailed,
    council_events_of,
    events_of,
)
from cognition.context import Context
from cognition.errors import InvalidInput, Unavailable
from cognition.levels import Policy
from cognition.storage.disk.folder_lock import FolderInUse

GRAPH: Final = "echo"
MODES: Final[list[StreamMode]] = ["messages-tuple", "custom", "updates"]
CONNECT_SECONDS: Final = 5
"""Seconds to wait for a connection or for the health check."""

ERROR_STATUSES: Final = (400, 403, 503)
"""HTTP statuses for which `apps.server` returns an error message for the user."""


class ServerFailed(Unavailable):
    """A server that returned an error or can't be reached. The message says which."""


@asynccontextmanager
async def open_remote_client(in_use: FolderInUse) -> AsyncIterator["RemoteClient"]:
    """Open a client for the process that holds the home folder.

    Raises:
        FolderInUse: If that process serves no HTTP API or can't be reached.
    """
    url, pid = in_use.holder.url, in_use.holder.pid
    if not url:
        raise in_use
    async with httpx.AsyncClient(base_url=url, timeout=CONNECT_SECONDS) as http:
        try:
            health = (await http.get("/cognition/health")).raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            raise in_use from None
        if health["pid"] != pid:
            raise in_use
        http.timeout = httpx.Timeout(60)
        async with get_client(url=url) as client:
            yield RemoteClient(url, health["rehearsed"], http, client)


class RemoteClient:
    """A client that uses a server's HTTP API."""

    def __init__(self, url: str, rehearsed: bool, http: httpx.AsyncClient, client: LangGraphClient) -> None:
        self.url = url
        self.rehearsed = rehearsed
        self._http = http
        self._client = client

    async def turn(self, chat: str, content: MessageContent, context: Context) -> AsyncGenerator[Event]:
        """Send a message to a chat and yield the events. Closing the iterator ends the turn on the server."""
        thread = await self._thread(context.user_id, chat)
        graph_input: Any = {"messages": [{"type": "human", "content": content}]}
        stream = self._client.runs.stream(
            thread,
            GRAPH,
            input=graph_input,
            context=cast("Any", asdict(context)),
            stream_mode=MODES,
            on_disconnect="cancel",
        )
        async with aclosing(cast("AsyncGenerator[StreamPart]", stream)) as parts:
            async for event in events_of(_modes(parts)):
                yield event

    async def council(
        self, request: dict[str, Any], context: Context
    ) -> AsyncGenerator[Notice | CouncilResult]:
        """Hold a council and yield its events. Closing the iterator ends the council on the server."""
        messages = [
            {"type": message.type, "content": message.text}
            for message in request.get("messages", [])
            if isinstance(
                message, HumanMessage | AIMessage
            )  # tool calls are dropped, so their results must be
        ]
        stream = self._client.runs.stream(
            None,
            "council",
            input=cast("Any", {**request, "messages": messages}),
            context=cast("Any", asdict(context)),
            stream_mode=["custom", "values"],
            on_disconnect="cancel",
        )
        async with aclosing(cast("AsyncGenerator[StreamPart]", stream)) as parts:
            async for event in council_events_of(_modes(parts)):
                yield event

    async def messages(self, user_id: str, chat: str) -> list[AnyMessage]:
        """Return the messages of a chat, oldest first."""
        thread = await self._thread(user_id, chat)
        with _server_errors():
            state = await self._client.threads.get_state(thread)
        values = cast("dict[str, Any]", state["values"] or {})
        return cast("list[AnyMessage]", convert_to_messages(values.get("messages", [])))

    async def ingest(self, user_id: str, chat: str, ids: Sequence[str]) -> AsyncGenerator[dict[str, Any]]:
        """Ingest resources of a chat and yield the events. The server continues if the iterator is closed."""
        path = f"sessions/{thread_of(user_id, chat)}/ingest"
        async with aclosing(self._events(path, user_id, {"resources": list(ids)})) as events:
            async for event in events:
                yield event

    async def finish(self) -> None:
        """Do nothing: background jobs continue on the server."""

    async def sessions(self, user_id: str) -> dict[str, Any]:
        """List a user's sessions."""
        return await self._request("GET", "sessions", user_id)

    async def show(self, user_id: str, chat: str) -> dict[str, Any]:
        """Return the contents of a session."""
        return await self._request("GET", f"sessions/{thread_of(user_id, chat)}", user_id)

    async def close(self, user_id: str, chat: str) -> dict[str, Any]:
        """Close a session and delete its contents."""
        return await self._request("DELETE", f"sessions/{thread_of(user_id, chat)}", user_id)

    async def agents(self, user_id: str, chat_id: str) -> dict[str, Any]:
        """List a user's sub-agents."""
        return await self._request("GET", "agents", user_id, chat_id=chat_id)

    async def agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """Return a sub-agent with the messages of its thread."""
        return await self._request("GET", f"agents/{quote(sub_sid, safe='')}", user_id)

    async def resume(
        self, user_id: str, sub_sid: str, text: str, policy: Policy | None
    ) -> AsyncGenerator[dict[str, Any]]:
        """Resume a sub-agent and yield its events. Closing the iterator interrupts it on the server."""
        path = f"agents/{quote(sub_sid, safe='')}/resume"
        async with aclosing(self._events(path, user_id, {"text": text, "policy": policy})) as events:
            async for event in events:
                yield event

    async def close_agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """Close a sub-agent and delete its thread."""
        return await self._request("DELETE", f"agents/{quote(sub_sid, safe='')}", user_id)

    async def memories(self, user_id: str, **query: Any) -> dict[str, Any]:
        """List or search a user's memories."""
        return await self._request("GET", "memory", user_id, **query)

    async def delete(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Delete a memory permanently."""
        return await self._request("DELETE", f"memory/{quote(memory_id, safe='')}", user_id)

    async def undo(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Restore the text that a memory had before its last change."""
        return await self._request("POST", f"memory/{quote(memory_id, safe='')}/undo", user_id)

    async def _thread(self, user_id: str, chat: str) -> str:
        """Return the chat's thread, created if missing: a server that was killed has lost its threads."""
        thread = thread_of(user_id, chat)
        with _server_errors():
            await self._client.threads.create(thread_id=thread, graph_id=GRAPH, if_exists="do_nothing")
        return thread

    async def _events(self, path: str, user_id: str, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Post a request and yield the events of the response as they arrive."""
        stream = self._http.stream(
            "POST",
            f"/cognition/{path}",
            params={"user_id": user_id},
            json=body,
            timeout=httpx.Timeout(CONNECT_SECONDS, read=None),  # a model may think for minutes
        )
        with _server_errors():
            async with stream as response:
                if response.is_error:
                    await response.aread()
                    _payload(response)
                async for line in response.aiter_lines():
                    event: dict[str, Any] = json.loads(line)
                    if event["type"] == "error":
                        raise InvalidInput(event["error"])
                    yield event

    async def _request(self, method: str, path: str, user_id: str, **query: Any) -> dict[str, Any]:
        query = {"user_id": user_id, **query}
        with _server_errors():
            return _payload(await self._http.request(method, f"/cognition/{path}", params=query))


def _payload(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON body of a response.

    Raises:
        InvalidInput: If the server returned an error message for the user.
        httpx.HTTPStatusError: If it returned any other error.
    """
    if response.status_code in ERROR_STATUSES:
        raise InvalidInput(response.json()["error"])
    payload: dict[str, Any] = response.raise_for_status().json()
    return payload


async def _modes(parts: AsyncIterator[StreamPart]) -> AsyncIterator[tuple[str, Any]]:
    with _server_errors():
        async for part in parts:
            if part.event == "error":
                raise TurnFailed(part.data.get("message") or str(part.data))
            yield part.event, part.data


@contextmanager
def _server_errors() -> Iterator[None]:
    """Turn HTTP errors into errors with a message for the user.

    Raises:
        ServerFailed: If the server returns an error or can't be reached.
    """
    try:
        yield
    except APIError as error:
        status = error.response.status_code
        msg = f"The server that holds the home folder returned an error ({status}): {error.message}"
        raise ServerFailed(msg) from error
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        msg = f"The server that holds the home folder returned an error ({status}). See its log."
        raise ServerFailed(msg) from error
    except httpx.TransportError as error:
        msg = f"The server that holds the home folder did not respond ({type(error).__name__}). Try again."
        raise ServerFailed(msg) from error
