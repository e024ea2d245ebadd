"""A sub-agent turn: open_thread → think ⇄ use_tools, take_notes, escalate → ask | wrap_up | close_turn."""

from langgraph.graph import END, START, StateGraph

from cognition.concurrency.node_adapters import as_edge, as_node
from cognition.context import Context
from cognition.state.delegation import DelegationInput, DelegationOutput, DelegationState
from nodes.compaction import route_to_notes, take_notes
from nodes.delegation import (
    ask,
    close_turn,
    open_thread,
    route_after_think,
    think,
    use_tools,
    wrap_up,
)
from nodes.thinking import escalate, route_after_tools, route_to_level
from tools.toolset import sub_agent_toolset

TOOLSET = sub_agent_toolset()
LEVEL_NODES = ["think_lite", "think_flash", "think_pro"]
AFTER_THINK = ["use_tools", "escalate", "ask", "wrap_up", "close_turn"]

graph = (
    StateGraph(
        DelegationState, context_schema=Context, input_schema=DelegationInput, output_schema=DelegationOutput
    )
    .add_node("open_thread", as_node(open_thread))
    .add_node("take_notes", as_node(take_notes))
    .add_node("think_lite", as_node(think, toolset=TOOLSET))
    .add_node("think_flash", as_node(think, toolset=TOOLSET))
    .add_node("think_pro", as_node(think, toolset=TOOLSET))
    .add_node("use_tools", as_node(use_tools, toolset=TOOLSET))
    .add_node("escalate", as_node(escalate))
    .add_node("ask", as_node(ask))
    .add_node("wrap_up", as_node(wrap_up))
    .add_node("close_turn", as_node(close_turn))
    .add_edge(START, "open_thread")
    .add_conditional_edges("open_thread", as_edge(route_to_notes), ["take_notes", *LEVEL_NODES])
    .add_conditional_edges("take_notes", as_edge(route_after_tools), [*LEVEL_NODES, "escalate"])
    .add_conditional_edges("think_lite", as_edge(route_after_think), AFTER_THINK)
    .add_conditional_edges("think_flash", as_edge(route_after_think), AFTER_THINK)
    .add_conditional_edges("think_pro", as_edge(route_after_think), AFTER_THINK)
    .add_conditional_edges("use_tools", as_edge(route_to_notes), ["take_notes", *LEVEL_NODES, "escalate"])
    .add_conditional_edges("escalate", as_edge(route_to_level), LEVEL_NODES)
    .add_edge("wrap_up", "close_turn")
    .add_edge("ask", END)
    .add_edge("close_turn", END)
    .compile(name="delegation")
)
