"""The last node of a turn: write the turn's account into the answer, and index the turn."""

from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of, identity_of
from cognition.dates import now
from cognition.identity import Identity
from cognition.messages.history import STAMP
from cognition.services import Services
from cognition.sessions import closed_at
from cognition.state.echo import EchoState
from cognition.state.turn import summary


async def record(state: EchoState, runtime: Runtime[Context]) -> EchoState:
    """Write the turn's account into the answer's metadata, and note in the answer if a budget cut it short.

    A background job adds the turn to session memory, so that the answer does not wait for its embedding. A
    turn that a crash left unindexed is indexed after the next one.
    """
    turn, messages = state["turn"], state["messages"]
    services = context_of(runtime).services()
    answer = _answer(messages)
    stamp = answer.response_metadata.get(STAMP, {})
    level = stamp.get("level", turn["level"])
    account = {**summary(turn, level, services.models.rehearsed), "at": now()}
    content: str | list[Any] = answer.content
    if turn["cut"]:
        note = {"type": "text", "text": f"\n\n(This turn was cut short: {turn['cut']}.)"}
        content = [*([content] if isinstance(content, str) else content), note]
    recorded = answer.model_copy(
        update={
            "content": content,
            "response_metadata": {**answer.response_metadata, STAMP: {**stamp, **account}},
        }
    )
    identity = identity_of(runtime)
    if services.settings.index_conversation and identity.chat_id:
        thread = [*(message for message in messages if message.id != recorded.id), recorded]
        work = _index_turn(thread, identity, state["perceived"]["at"], services)
        services.jobs.start(work, f"indexing of the turns of chat {identity.chat_id}")
    return {"messages": [recorded]}


async def _index_turn(
    messages: list[AnyMessage], identity: Identity, since: float, services: Services
) -> None:
    if await closed_at(services, identity.user_id, identity.chat_id) > since:
        return  # the session was closed meanwhile; the next turn, if any, indexes this one
    session = await services.session()
    await session.conversation.index(identity.user_id, identity.chat_id, messages)


def _answer(messages: list[AnyMessage]) -> AIMessage:
    """Return the turn's last message, or its latest text if the budget ran out before a final answer."""
    newest = messages[-1]
    if isinstance(newest, AIMessage) and not newest.tool_calls:
        return newest
    best = "I have no answer yet."
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, AIMessage) and message.text.strip():
            best = message.text
            break
    return AIMessage(best, id=str(uuid4()))
