"""One turn of a chat: perceive → think at a level ⇄ use_tools, escalate → record."""

from langgraph.graph import END, START, StateGraph

from cognition.concurrency.node_adapters import as_edge, as_node
from cognition.context import Context
from cognition.state.echo import EchoInput, EchoState
from graphs.council import graph as council
from graphs.delegation import graph as delegation
from graphs.ingestion import graph as ingestion
from nodes.perception import perceive
from nodes.recording import record
from nodes.thinking import (
    escalate,
    route_after_think,
    route_after_tools,
    route_to_level,
    think,
    use_tools,
)
from tools.toolset import echo_toolset

TOOLSET = echo_toolset(delegation=delegation, council=council)
LEVEL_NODES = ["think_lite", "think_flash", "think_pro"]

graph = (
    StateGraph(EchoState, context_schema=Context, input_schema=EchoInput)
    .add_node("perceive", as_node(perceive, ingestion=ingestion))
    .add_node("think_lite", as_node(think, toolset=TOOLSET))
    .add_node("think_flash", as_node(think, toolset=TOOLSET))
    .add_node("think_pro", as_node(think, toolset=TOOLSET))
    .add_node("use_tools", as_node(use_tools, toolset=TOOLSET))
    .add_node("escalate", as_node(escalate))
    .add_node("record", as_node(record))
    .add_edge(START, "perceive")
    .add_conditional_edges("perceive", as_edge(route_to_level), LEVEL_NODES)
    .add_conditional_edges("think_lite", as_edge(route_after_think), ["use_tools", "escalate", "record"])
    .add_conditional_edges("think_flash", as_edge(route_after_think), ["use_tools", "escalate", "record"])
    .add_conditional_edges("think_pro", as_edge(route_after_think), ["use_tools", "escalate", "record"])
    .add_conditional_edges("use_tools", as_edge(route_after_tools), [*LEVEL_NODES, "escalate"])
    .add_conditional_edges("escalate", as_edge(route_to_level), LEVEL_NODES)
    .add_edge("record", END)
    .compile(name="echo")
)
