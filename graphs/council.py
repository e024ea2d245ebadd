"""A council of experts: convene → distill → (speak, one branch each → gather) per round → synthesize."""

from langgraph.graph import END, START, StateGraph

from cognition.concurrency.node_adapters import as_edge, as_node
from cognition.context import Context
from cognition.state.council import CouncilInput, CouncilOutput, CouncilRecord, CouncilState
from nodes.council import (
    Speaker,
    convene,
    distill,
    gather,
    route_after_gather,
    send_participants,
    speak,
    synthesize,
)

SHOWN = list(CouncilRecord.__annotations__)
"""State keys in streams: the participants' messages never leave the run."""

graph = (
    StateGraph(CouncilState, context_schema=Context, input_schema=CouncilInput, output_schema=CouncilOutput)
    .add_node("convene", as_node(convene))
    .add_node("distill", as_node(distill), input_schema=CouncilRecord)
    .add_node("speak", as_node(speak), input_schema=Speaker)
    .add_node("gather", as_node(gather), input_schema=CouncilRecord)
    .add_node("synthesize", as_node(synthesize), input_schema=CouncilRecord)
    .add_edge(START, "convene")
    .add_edge("convene", "distill")
    .add_conditional_edges("distill", as_edge(send_participants), ["speak"])
    .add_edge("speak", "gather")
    .add_conditional_edges("gather", as_edge(route_after_gather), ["speak", "synthesize"])
    .add_edge("synthesize", END)
    .compile(name="council")
    .copy(update={"stream_channels": SHOWN})
)
