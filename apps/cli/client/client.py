"""A way to the graph and the memories: in this process, or through the server that holds the folder."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, convert_to_messages

from cognition.context import Context
from cognition.levels import Policy
from cognition.messages.history import STAMP
from cognition.services import Services
from cognition.settings import Settings, process_settings
from cognition.storage.disk.folder_lock import FolderInUse


@dataclass(frozen=True)
class Token:
    """A piece of text as the model says it."""

    text: str


@dataclass(frozen=True)
class Notice:
    """What happens beside the text: a change of level, a tool, a retry, a memory."""

    event: dict[str, Any]


@dataclass(frozen=True)
class Answered:
    """The end of a turn."""

    text: str
    account: dict[str, Any] = field(default_factory=dict)
    """The answer's metadata: levels, calls, tokens; `error` when no model gave an answer."""


Event = Token | Notice | Answered


@dataclass(frozen=True)
class Held:
    """The end of a council."""

    report: str
    deliberation: dict[str, Any]


Content = str | list[dict[str, Any]]
"""A message: its text, or content blocks as Studio sends them."""


class TurnFailed(RuntimeError):
    """A turn that broke off; the message says why."""


class Session(Protocol):
    """What the commands stand on."""

    where: str
    """The URL of the server; empty when everything runs in this process."""

    @property
    def rehearsed(self) -> bool:
        """Whether the models are played by the rehearsal."""
        ...

    def turn(self, chat: str, content: Content, context: Context) -> AsyncGenerator[Event]:
        """Say something in a chat; the last event is `Answered`. Closing the iterator ends the turn.

        Raises:
            TurnFailed: The graph broke off.
        """
        ...

    def council(self, asked: dict[str, Any], context: Context) -> AsyncGenerator[Notice | Held]:
        """Hold a council, as `cognition.state.echo.CouncilInput` asks for it; the last event is `Held`.

        Raises:
            TurnFailed: The graph broke off.
        """
        ...

    async def messages(self, user_id: str, chat: str) -> list[AnyMessage]:
        """What was said in a chat, oldest first."""
        ...

    def ingest(self, user_id: str, chat: str, ids: Sequence[str]) -> AsyncGenerator[dict[str, Any]]:
        """See `cognition.ingestion.batch.ingest_batch`."""
        ...

    async def finish(self) -> None:
        """Wait for what goes on after a turn, if it would end with this program; it is safe not to."""
        ...

    async def sessions(self, user_id: str) -> dict[str, Any]:
        """See `cognition.sessions.list_sessions`."""
        ...

    async def show(self, user_id: str, chat: str) -> dict[str, Any]:
        """See `cognition.sessions.show_session`."""
        ...

    async def close(self, user_id: str, chat: str) -> dict[str, Any]:
        """See `cognition.sessions.close_session`."""
        ...

    async def agents(self, user_id: str, chat_id: str) -> dict[str, Any]:
        """See `cognition.delegation.management.list_agents`."""
        ...

    async def agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """See `cognition.delegation.management.show_agent`."""
        ...

    def resume(
        self, user_id: str, sub_sid: str, text: str, policy: Policy | None
    ) -> AsyncGenerator[dict[str, Any]]:
        """See `cognition.delegation.management.resume_agent`."""
        ...

    async def close_agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """See `cognition.delegation.management.close_agent`."""
        ...

    async def memories(self, user_id: str, **query: Any) -> dict[str, Any]:
        """See `cognition.memory.long_term.listing.list_memories`."""
        ...

    async def delete(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """See `cognition.memory.long_term.listing.delete_memory`."""
        ...

    async def undo(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """See `cognition.memory.long_term.listing.undo_memory`."""
        ...


@asynccontextmanager
async def open_session(settings: Settings) -> AsyncIterator[Session]:
    """The session over the folder of the settings.

    Raises:
        FolderInUse: A process holds the folder that can't be reached over HTTP.
    """
    from apps.cli.client.local import LocalSession  # noqa: PLC0415  # they import the events above
    from apps.cli.client.remote import open_server_session  # noqa: PLC0415

    services = Services(settings)
    try:
        await asyncio.to_thread(services.hold)
    except FolderInUse as taken:
        async with open_server_session(taken) as remote:
            yield remote
        return
    local = LocalSession(services)
    try:
        yield local
    finally:
        await local.aclose()


def ask_session(question: Callable[[Session], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Ask one thing of the folder of the settings, and wait for the answer."""

    async def ask() -> dict[str, Any]:
        async with open_session(process_settings()) as session:
            return await question(session)

    return asyncio.run(ask())


async def events_of(parts: AsyncIterator[tuple[str, Any]]) -> AsyncGenerator[Event]:
    """The events in a graph's stream, the answer when the stream is over and the turn is stored.

    Args:
        parts: Modes and data; messages may be objects or, from a server, dicts.

    Raises:
        TurnFailed: The stream ended without an answer.
    """
    answer: Answered | None = None
    async for mode, data in parts:
        match mode:
            case "messages":
                if text := _said(*data):
                    yield Token(text)
            case "custom":
                yield Notice(data)
            case "updates" if "record" in data:
                message = convert_to_messages(data["record"]["messages"])[-1]
                answer = Answered(message.text, message.response_metadata.get(STAMP, {}))
    if answer is None:
        raise TurnFailed("The turn ended without an answer.")
    yield answer


async def council_events_of(parts: AsyncIterator[tuple[str, Any]]) -> AsyncGenerator[Notice | Held]:
    """The events in a council's stream, the result when the stream is over.

    Args:
        parts: Modes and data.

    Raises:
        TurnFailed: The stream ended without a result.
    """
    state: dict[str, Any] = {}
    async for mode, data in parts:
        if mode == "custom":
            yield Notice(data)
        elif mode == "values":
            state = data
    if not state.get("report"):
        raise TurnFailed("The council ended without a result.")
    yield Held(state["report"], state["deliberation"])


def _said(chunk: Any, metadata: dict[str, Any]) -> str:
    """What a level says; not what a tool's own model does, nor the whole message once more."""
    if not metadata["langgraph_node"].startswith("think_"):
        return ""
    if isinstance(chunk, dict) and chunk["type"] == "AIMessageChunk":
        return AIMessageChunk(content=chunk["content"]).text
    return chunk.text if isinstance(chunk, AIMessageChunk) else ""


def exchanges(messages: list[AnyMessage], last: int) -> list[HumanMessage | AIMessage]:
    """The last questions of a chat, each with its answer."""
    said: list[HumanMessage | AIMessage] = []
    for message in messages:
        if not isinstance(message, HumanMessage | AIMessage) or not message.text.strip():
            continue
        if isinstance(message, AIMessage) and said and isinstance(said[-1], AIMessage):
            said[-1] = message  # of what is said between tool calls, the last is the answer
        else:
            said.append(message)
    asked = [i for i, message in enumerate(said) if isinstance(message, HumanMessage)]
    return said[asked[-last] :] if len(asked) > last else said
