"""The first step of a turn: open its account and recall what matters."""

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of, identity_of
from cognition.history import has_content
from cognition.prompts.echo import within_budget
from cognition.state import EchoState
from cognition.turn import open_turn

QUERY_CHARACTERS = 1_500
"""How much of a long message is looked up in memory: its first and last halves of this."""


async def perceive(state: EchoState, runtime: Runtime[Context]) -> EchoState:
    """Open the turn and recall the memories that the newest message calls up.

    Raises:
        ValueError: The newest message is not a user's, or is blank, or the run's user is blank.
    """
    identity = identity_of(runtime)
    context = context_of(runtime)
    services = context.services()
    messages = state.get("messages", [])
    if not messages or not isinstance(messages[-1], HumanMessage) or not has_content(messages[-1]):
        msg = "There is nothing to answer: the newest message must be a user's and not blank."
        raise ValueError(msg)
    recalled: list[str] = []
    recalls = context.memory == "on" and services.settings.recall
    if recalls and (text := messages[-1].text.strip()):
        memory = await services.memory()
        memory_ids = await memory.recall(identity.user_id, _query(text))
        memories = await memory.fetch(identity.user_id, memory_ids)
        recalled = [memory.memory_id for memory in within_budget(memories)]
    return {"turn": open_turn(context.policy, services.settings, state.get("turn")), "recalled": recalled}


def _query(text: str) -> str:
    if len(text) <= QUERY_CHARACTERS:
        return text
    half = QUERY_CHARACTERS // 2
    return f"{text[:half]} {text[-half:]}"
