"""The interface that commands use: in this process, or through the server that holds the home folder."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from apps.cli.client.events import CouncilResult, Event, MessageContent, Notice
from cognition.context import Context
from cognition.levels import Policy


class Client(Protocol):
    """Access to the graphs and the stores."""

    url: str
    """The URL of the server; empty if everything runs in this process."""

    @property
    def rehearsed(self) -> bool:
        """True if the models are rehearsed."""
        ...

    def turn(self, chat: str, content: MessageContent, context: Context) -> AsyncGenerator[Event]:
        """Send a message to a chat and yield the events of the turn, with the `TurnResult` last.

        Closing the iterator ends the turn.

        Raises:
            TurnFailed: If the turn ended without an answer.
        """
        ...

    def council(self, request: dict[str, Any], context: Context) -> AsyncGenerator[Notice | CouncilResult]:
        """Hold a council for a `CouncilInput` and yield its events, with the `CouncilResult` last.

        Raises:
            TurnFailed: If the council ended without a result.
        """
        ...

    async def messages(self, user_id: str, chat: str) -> list[AnyMessage]:
        """Return the messages of a chat, oldest first."""
        ...

    def ingest(self, user_id: str, chat: str, ids: Sequence[str]) -> AsyncGenerator[dict[str, Any]]:
        """Ingest resources: see `cognition.ingestion.batch.ingest_batch`."""
        ...

    async def finish(self) -> None:
        """Wait for background jobs that would end with this program. It is safe to skip this."""
        ...

    async def sessions(self, user_id: str) -> dict[str, Any]:
        """List sessions: see `cognition.sessions.list_sessions`."""
        ...

    async def show(self, user_id: str, chat: str) -> dict[str, Any]:
        """Return the contents of a session: see `cognition.sessions.show_session`."""
        ...

    async def close(self, user_id: str, chat: str) -> dict[str, Any]:
        """Close a session: see `cognition.sessions.close_session`."""
        ...

    async def agents(self, user_id: str, chat_id: str) -> dict[str, Any]:
        """List sub-agents: see `cognition.delegation.management.list_agents`."""
        ...

    async def agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """Return a sub-agent with its messages: see `cognition.delegation.management.show_agent`."""
        ...

    def resume(
        self, user_id: str, sub_sid: str, text: str, policy: Policy | None
    ) -> AsyncGenerator[dict[str, Any]]:
        """Resume a sub-agent: see `cognition.delegation.management.resume_agent`."""
        ...

    async def close_agent(self, user_id: str, sub_sid: str) -> dict[str, Any]:
        """Close a sub-agent: see `cognition.delegation.management.close_agent`."""
        ...

    async def memories(self, user_id: str, **query: Any) -> dict[str, Any]:
        """List or search memories: see `cognition.memory.long_term.listing.list_memories`."""
        ...

    async def delete(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Delete a memory: see `cognition.memory.long_term.listing.delete_memory`."""
        ...

    async def undo(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """Restore a memory's older text: see `cognition.memory.long_term.listing.undo_memory`."""
        ...


def exchanges(messages: list[AnyMessage], last: int) -> list[HumanMessage | AIMessage]:
    """Return the last questions of a chat, each followed by its answer.

    Args:
        messages: The messages of the chat, oldest first.
        last: The number of questions.
    """
    turns: list[HumanMessage | AIMessage] = []
    for message in messages:
        if not isinstance(message, HumanMessage | AIMessage) or not message.text.strip():
            continue
        if isinstance(message, AIMessage) and turns and isinstance(turns[-1], AIMessage):
            turns[-1] = message  # earlier texts were written between tool calls; the last is the answer
        else:
            turns.append(message)
    questions = [i for i, message in enumerate(turns) if isinstance(message, HumanMessage)]
    return turns[questions[-last] :] if len(questions) > last else turns
