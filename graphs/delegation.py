"""A sub-agent's turn: open_thread → think ⇄ use_tools, take_notes, escalate → ask | wrap_up | close_turn."""

from langgraph.graph import END, START, StateGraph

from cognition.concurrency.event_loop import router, step
from cognition.context import Context
from cognition.state.echo import DelegationInput, DelegationOutput, DelegationState
from nodes.compaction import route_to_notes, take_notes
from nodes.delegation import (
    ask,
    close_turn,
    open_thread,
    route_after_think,
    think_flash,
    think_lite,
    think_pro,
    use_tools,
    wrap_up,
)
from nodes.thinking import escalate, route_after_tools, route_to_level

LEVEL_NODES = ["think_lite", "think_flash", "think_pro"]
AFTER_THINK = ["use_tools", "escalate", "ask", "wrap_up", "close_turn"]

graph = (
    StateGraph(
        DelegationState, context_schema=Context, input_schema=DelegationInput, output_schema=DelegationOutput
    )
    .add_node("open_thread", step(open_thread))
    .add_node("take_notes", step(take_notes))
    .add_node("think_lite", step(think_lite))
    .add_node("think_flash", step(think_flash))
    .add_node("think_pro", step(think_pro))
    .add_node("use_tools", step(use_tools))
    .add_node("escalate", step(escalate))
    .add_node("ask", step(ask))
    .add_node("wrap_up", step(wrap_up))
    .add_node("close_turn", step(close_turn))
    .add_edge(START, "open_thread")
    .add_conditional_edges("open_thread", router(route_to_notes), ["take_notes", *LEVEL_NODES])
    .add_conditional_edges("take_notes", router(route_after_tools), [*LEVEL_NODES, "escalate"])
    .add_conditional_edges("think_lite", router(route_after_think), AFTER_THINK)
    .add_conditional_edges("think_flash", router(route_after_think), AFTER_THINK)
    .add_conditional_edges("think_pro", router(route_after_think), AFTER_THINK)
    .add_conditional_edges("use_tools", router(route_to_notes), ["take_notes", *LEVEL_NODES, "escalate"])
    .add_conditional_edges("escalate", router(route_to_level), LEVEL_NODES)
    .add_edge("wrap_up", "close_turn")
    .add_edge("ask", END)
    .add_edge("close_turn", END)
    .compile(name="delegation")
)
