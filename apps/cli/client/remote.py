"""The graph and the memories of a LangGraph server that holds the folder."""

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
REACH_SECONDS: Final = 5
TOLD: Final = (400, 403, 503)
"""What `apps.server` answers with a sentence."""


class ServerFailed(Unavailable):
    """The server answered with an error or not at all; the message says so."""


@asynccontextmanager
async def open_remote_client(taken: FolderInUse) -> AsyncIterator["RemoteClient"]:
    """A session on the process that holds the folder.

    Raises:
        FolderInUse: It serves no HTTP API, or can't be reached there.
    """
    url, pid = taken.holder.url, taken.holder.pid
    if not url:
        raise taken
    async with httpx.AsyncClient(base_url=url, timeout=REACH_SECONDS) as http:
        try:
            health = (await http.get("/cognition/health")).raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            raise taken from None
        if health["pid"] != pid:
            raise taken
        http.timeout = httpx.Timeout(60)
        async with get_client(url=url) as client:
            yield RemoteClient(url, health["rehearsed"], http, client)


class RemoteClient:
    """A session on a server."""

    def __init__(self, url: str, rehearsed: bool, http: httpx.AsyncClient, client: LangGraphClient) -> None:
        self.where = url
        self.rehearsed = rehearsed
        self._http = http
        self._client = client

    async def turn(self, chat: str, content: MessageContent, context: Context) -> AsyncGenerator[Event]:
        """Say something in a chat; the server ends the turn when the iterator is closed."""
        thread = await self._thread(context.user_id, chat)
        said: Any = {"messages": [{"type": "human", "content": content}]}
        stream = self._client.runs.stream(
            thread,
            GRAPH,
            input=said,
            context=cast("Any", asdict(context)),
            stream_mode=MODES,
            on_disconnect="cancel",
        )
        async with aclosing(cast("AsyncGenerator[StreamPart]", stream)) as parts:
            async for event in events_of(_modes(parts)):
                yield event

    async def council(
        self, asked: dict[str, Any], context: Context
    ) -> AsyncGenerator[Notice | CouncilResult]:
        """Hold a council; the server ends it when the iterator is closed."""
        said = [
            {"type": message.type, "content": message.text}
            for message in asked.get("messages", [])
            if isinstance(message, HumanMessage | AIMessage)  # a result is none without its call
        ]
        stream = self._client.runs.stream(
            None,
            "council",
            input=cast("Any", {**asked, "messages": said}),
            context=cast("Any", asdict(context)),
            stream_mode=["custom", "values"],
            on_disconnect="cancel",
        )
        async with aclosing(cast("AsyncGenerator[StreamPart]", stream)) as parts:
            async for event in council_events_of(_modes(parts)):
                yield event

    async def messages(self, user_id: str, chat: str) -> list[AnyMessage]:
        """What was said in a chat, oldest first."""
        thread = await self._thread(user_id, chat)
        with _failing():
            state = await self._client.threads.get_state(thread)
        values = cast("dict[str, Any]", state["values"] or {})
        return cast("list[AnyMessage]", convert_to_messages(values.get("messages", [])))

    async def ingest(self, user_id: str, chat: str, ids: Sequence[str]) -> AsyncGenerator[dict[str, Any]]:
        """Ingest what a chat was given; the server goes on when the iterator is closed."""
        path = f"sessions/{thread_of(user_id, chat)}/ingest"
        async with aclosing(self._events(path, user_id, {"resources": list(ids)})) as events:
            async for event in events:
                yield event

    async def finish(self) -> None:
        """The server goes on by itself."""

    async def sessions(self, user_id: str) -> dict[str, Any]:
        """A user's sessions."""
        return await self._ask("GET", "sessions", user_id)

    async def show(self, user_id: str, chat: str) -> dict[str, Any]:
        """What one session holds."""
        return await self._ask("GET", f"sessions/{thread_of(user_id, chat)}", user_id)

    async def close(self, user_id: str, chat: str) -> dict[str, Any]:
        """Delete what one session holds."""
        return await self._ask("DELETE", f"sessions/{thread_of(user_id, chat)}", user_id)

    async def agents(self, user_id: str, chat_id: str) -> dict[str, Any]:
        """A user's sub-agents."""
        return await self._ask("GET", "agents", user_id, chat_id=chat_id)

    async def agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """What was said in a sub-agent's thread."""
        return await self._ask("GET", f"agents/{quote(sub_sid, safe='')}", user_id)

    async def resume(
        self, user_id: str, sub_sid: str, text: str, policy: Policy | None
    ) -> AsyncGenerator[dict[str, Any]]:
        """Let a sub-agent go on; the server cuts it off when the iterator is closed."""
        path = f"agents/{quote(sub_sid, safe='')}/resume"
        async with aclosing(self._events(path, user_id, {"text": text, "policy": policy})) as events:
            async for event in events:
                yield event

    async def close_agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """End a sub-agent."""
        return await self._ask("DELETE", f"agents/{quote(sub_sid, safe='')}", user_id)

    async def memories(self, user_id: str, **query: Any) -> dict[str, Any]:
        """A user's memories."""
        return await self._ask("GET", "memory", user_id, **query)

    async def delete(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Delete a memory."""
        return await self._ask("DELETE", f"memory/{quote(memory_id, safe='')}", user_id)

    async def undo(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Bring back an older text."""
        return await self._ask("POST", f"memory/{quote(memory_id, safe='')}/undo", user_id)

    async def _thread(self, user_id: str, chat: str) -> str:
        """The chat's thread on the server, which forgets its list of threads when it is killed."""
        thread = thread_of(user_id, chat)
        with _failing():
            await self._client.threads.create(thread_id=thread, graph_id=GRAPH, if_exists="do_nothing")
        return thread

    async def _events(self, path: str, user_id: str, wish: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """The events of something that takes its time, as they happen."""
        stream = self._http.stream(
            "POST",
            f"/cognition/{path}",
            params={"user_id": user_id},
            json=wish,
            timeout=httpx.Timeout(REACH_SECONDS, read=None),  # a model may think for minutes
        )
        with _failing():
            async with stream as response:
                if response.is_error:
                    await response.aread()
                    _told(response)
                async for line in response.aiter_lines():
                    event: dict[str, Any] = json.loads(line)
                    if event["type"] == "error":
                        raise InvalidInput(event["error"])
                    yield event

    async def _ask(self, method: str, path: str, user_id: str, **query: Any) -> dict[str, Any]:
        query = {"user_id": user_id, **query}
        with _failing():
            return _told(await self._http.request(method, f"/cognition/{path}", params=query))


def _told(response: httpx.Response) -> dict[str, Any]:
    """What the server tells.

    Raises:
        InvalidInput: It refuses, in a sentence.
    """
    if response.status_code in TOLD:
        raise InvalidInput(response.json()["error"])
    told: dict[str, Any] = response.raise_for_status().json()
    return told


async def _modes(parts: AsyncIterator[StreamPart]) -> AsyncIterator[tuple[str, Any]]:
    with _failing():
        async for part in parts:
            if part.event == "error":
                raise TurnFailed(part.data.get("message") or str(part.data))
            yield part.event, part.data


@contextmanager
def _failing() -> Iterator[None]:
    """Tell in a sentence what the server fails at.

    Raises:
        ServerFailed: It does.
    """
    try:
        yield
    except APIError as error:
        msg = f"The server that holds the folder answered {error.response.status_code}: {error.message}"
        raise ServerFailed(msg) from error
    except httpx.HTTPStatusError as error:
        msg = f"The server that holds the folder failed ({error.response.status_code}): see its log."
        raise ServerFailed(msg) from error
    except httpx.TransportError as error:
        msg = f"The server that holds the folder went away ({type(error).__name__}). Try again."
        raise ServerFailed(msg) from error
