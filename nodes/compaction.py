"""The node that compacts a long thread: notes replace its oldest exchanges."""

from time import monotonic
from typing import Literal, cast

from langchain_core.messages import AnyMessage, RemoveMessage
from langgraph.runtime import Runtime

from cognition.context import Context, context_of
from cognition.delegation.compaction import condense, oldest_exchanges
from cognition.state.delegation import DelegationState
from cognition.state.turn import seconds_left, with_seconds
from cognition.text.tokens import estimate_tokens
from nodes.thinking import route_after_tools

ThinkNode = Literal["think_lite", "think_flash", "think_pro", "escalate"]


async def take_notes(state: DelegationState, runtime: Runtime[Context]) -> DelegationState:
    """Replace the oldest exchanges with notes. A failed attempt is not repeated in the same turn."""
    started = monotonic()
    services, turn = context_of(runtime).services(), state["turn"]
    summary, condensed = await condense(
        services.models,
        state["messages"],
        state["summary"],
        window=services.settings.context_tokens,
        seconds=seconds_left(turn, services.settings),
        notify=runtime.stream_writer,
    )
    return {
        "turn": with_seconds(turn, monotonic() - started),
        "summary": summary,
        "notes_failed": not condensed,
        "messages": cast("list[AnyMessage]", [RemoveMessage(cast("str", m.id)) for m in condensed]),
    }


def route_to_notes(state: DelegationState, runtime: Runtime[Context]) -> Literal["take_notes"] | ThinkNode:
    """Return `take_notes` if the thread is too long, else the next step of the turn."""
    window = context_of(runtime).services().settings.context_tokens
    beside = estimate_tokens(state["summary"])
    if not state["notes_failed"] and oldest_exchanges(state["messages"], window, beside=beside):
        return "take_notes"
    return route_after_tools(state)
