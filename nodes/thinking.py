"""Thinking: one model call at a level, its tool calls, and transfers to a higher level."""

from functools import cache
from time import monotonic
from typing import Final, Literal, cast

from langchain_core.messages import AIMessage
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from cognition.context import Context, MemoryMode, Toolset, context_of
from cognition.levels import Level
from cognition.models.outcome import Answer
from cognition.state.delegation import DelegationState
from cognition.state.echo import EchoState
from cognition.state.turn import (
    calls_left,
    open_targets,
    seconds_left,
    with_agents,
    with_cut,
    with_seconds,
    with_transfer,
)
from nodes.model_outcome import apply_outcome, tool_error
from nodes.prompt import prompt
from nodes.tool_results import without_long_results

OWN_BUDGET: Final = frozenset({"delegate_to_agent", "consult_expert_consultant", "consult_council"})
"""Tools that call models themselves, with their own budget."""


async def think(state: EchoState, runtime: Runtime[Context], *, toolset: Toolset) -> EchoState:
    """Call the model of the turn's level once.

    Args:
        state: The thread.
        runtime: The run's runtime.
        toolset: The tools to offer.
    """
    context = context_of(runtime)
    services = context.services()
    turn = state["turn"]
    left, seconds = calls_left(turn, services.settings), seconds_left(turn, services.settings)
    if left <= 0 or seconds <= 0:
        return {"turn": with_cut(turn, _cut(left))}
    targets = open_targets(turn, context.policy, services.settings)
    outcome = await services.models.call(
        turn["level"],
        await prompt(state, targets, runtime),
        tools=toolset(targets, context.memory) if left > 1 else (),
        fall_back=context.policy in ("AUTO", "AUTO_PRO"),
        seconds=seconds,
        notify=runtime.stream_writer,
    )
    if left == 1 and isinstance(outcome, Answer):
        turn = with_cut(turn, _cut(0))
    turn, messages = apply_outcome(outcome, turn, runtime)
    return {"turn": turn, "messages": messages}


async def use_tools(state: EchoState, runtime: Runtime[Context], *, toolset: Toolset) -> EchoState:
    """Run the tool calls of the newest message in parallel; each gets a result, errors included.

    Args:
        state: The thread.
        runtime: The run's runtime.
        toolset: The tools that were offered.
    """
    started = monotonic()
    context = context_of(runtime)
    turn = state["turn"]
    calls = cast("AIMessage", state["messages"][-1]).tool_calls
    for call in calls:
        runtime.stream_writer({"type": "tool", "name": call["name"], "status": "start"})
    targets = open_targets(turn, context.policy, context.services().settings)
    results = await tool_node(toolset, targets, context.memory).ainvoke(state)
    for call in calls:
        runtime.stream_writer({"type": "tool", "name": call["name"], "status": "end"})
    messages = await without_long_results(results["messages"], runtime)
    agents = [call["name"] for call in calls if call["name"] in OWN_BUDGET]
    turn = with_agents(turn, agents) if agents else with_seconds(turn, monotonic() - started)
    return {"turn": turn, "messages": messages}


async def escalate(state: EchoState, runtime: Runtime[Context]) -> EchoState:
    """Move the turn to the level the model requested, with its plan."""
    turn = with_transfer(state["turn"])
    runtime.stream_writer({"type": "level", "from": state["turn"]["level"], "to": turn["level"]})
    return {"turn": turn}


def route_to_level(state: EchoState | DelegationState) -> Literal["think_lite", "think_flash", "think_pro"]:
    """Return the node of the turn's level."""
    nodes: dict[Level, Literal["think_lite", "think_flash", "think_pro"]] = {
        "MODEL_LITE": "think_lite",
        "MODEL_FLASH": "think_flash",
        "MODEL_PRO": "think_pro",
    }
    return nodes[state["turn"]["level"]]


def route_after_think(state: EchoState) -> Literal["use_tools", "escalate", "record"]:
    """Return the step after a model call: tools, a transfer, or the end of the turn."""
    newest = state["messages"][-1]
    if isinstance(newest, AIMessage) and newest.tool_calls:
        return "use_tools"
    return "escalate" if state["turn"]["transfer"] else "record"


def route_after_tools(
    state: EchoState | DelegationState,
) -> Literal["think_lite", "think_flash", "think_pro", "escalate"]:
    """Return the node of the turn's level, or `escalate` if a transfer was requested along with the calls."""
    return "escalate" if state["turn"]["transfer"] else route_to_level(state)


@cache
def tool_node(toolset: Toolset, targets: tuple[Level, ...], memory: MemoryMode) -> ToolNode:
    """Return the node that runs the tools a model was offered.

    Args:
        toolset: The tools of the graph.
        targets: The levels within reach.
        memory: `on` or `off`.
    """
    return ToolNode(toolset(targets, memory), handle_tool_errors=tool_error)


def _cut(calls: int) -> str:
    return "its model calls were used up" if calls <= 0 else "its time was used up"
