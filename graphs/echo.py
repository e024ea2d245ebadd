"""A turn of conversation: perceive → think at a level ⇄ use_tools, escalate → record."""

from langgraph.graph import END, START, StateGraph

from cognition.concurrency.event_loop import router, step
from cognition.context import Context
from cognition.state.echo import EchoInput, EchoState
from graphs.ingestion import graph as ingestion
from nodes.perception import perceive
from nodes.recording import record
from nodes.thinking import (
    escalate,
    route_after_think,
    route_after_tools,
    route_to_level,
    think_flash,
    think_lite,
    think_pro,
    use_tools,
)

LEVEL_NODES = ["think_lite", "think_flash", "think_pro"]

graph = (
    StateGraph(EchoState, context_schema=Context, input_schema=EchoInput)
    .add_node("perceive", step(perceive, ingestion=ingestion))
    .add_node("think_lite", step(think_lite))
    .add_node("think_flash", step(think_flash))
    .add_node("think_pro", step(think_pro))
    .add_node("use_tools", step(use_tools))
    .add_node("escalate", step(escalate))
    .add_node("record", step(record))
    .add_edge(START, "perceive")
    .add_conditional_edges("perceive", router(route_to_level), LEVEL_NODES)
    .add_conditional_edges("think_lite", router(route_after_think), ["use_tools", "escalate", "record"])
    .add_conditional_edges("think_flash", router(route_after_think), ["use_tools", "escalate", "record"])
    .add_conditional_edges("think_pro", router(route_after_think), ["use_tools", "escalate", "record"])
    .add_conditional_edges("use_tools", router(route_after_tools), [*LEVEL_NODES, "escalate"])
    .add_conditional_edges("escalate", router(route_to_level), LEVEL_NODES)
    .add_edge("record", END)
    .compile(name="echo")
)
