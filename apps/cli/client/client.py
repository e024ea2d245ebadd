"""A way to the graph and the memories: in this process, or through the server that holds the folder."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from apps.cli.client.events import CouncilResult, Event, MessageContent, Notice
from cognition.context import Context
from cognition.levels import Policy


class Client(Protocol):
    """What the commands stand on."""

    where: str
    """The URL of the server; empty when everything runs in this process."""

    @property
    def rehearsed(self) -> bool:
        """Whether the models are played by the rehearsal."""
        ...

    def turn(self, chat: str, content: MessageContent, context: Context) -> AsyncGenerator[Event]:
        """Say something in a chat; the last event is `Answered`. Closing the iterator ends the turn.

        Raises:
            TurnFailed: The graph broke off.
        """
        ...

    def council(self, asked: dict[str, Any], context: Context) -> AsyncGenerator[Notice | CouncilResult]:
        """Hold a council, given a `CouncilInput`; the last event is `CouncilResult`.

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
