"""The ingestion of a chat's files: receive → one branch per file (extract → decide → …) → report."""

from langgraph.graph import END, START, StateGraph

from cognition.concurrency.node_adapters import as_edge, as_node
from cognition.context import Context
from cognition.state.ingestion import FileOutput, FileState, IngestionInput, IngestionOutput, IngestionState
from nodes.ingestion import (
    decide,
    extract,
    fail,
    put_in_context,
    receive,
    register_only,
    report,
    route_after_decide,
    send_files,
    sum_up,
    vectorize,
)

FILES_AT_ONCE = 4
"""Maximum branches that run in parallel."""

ingest_file = (
    StateGraph(FileState, context_schema=Context, output_schema=FileOutput)
    .add_node("extract", as_node(extract))
    .add_node("decide", as_node(decide))
    .add_node("put_in_context", as_node(put_in_context))
    .add_node("vectorize", as_node(vectorize))
    .add_node("sum_up", as_node(sum_up))
    .add_node("register_only", as_node(register_only))
    .add_edge(START, "extract")
    .add_edge("extract", "decide")
    .add_conditional_edges(
        "decide", as_edge(route_after_decide), ["put_in_context", "vectorize", "register_only"]
    )
    .add_edge("vectorize", "sum_up")
    .add_edge("put_in_context", END)
    .add_edge("sum_up", END)
    .add_edge("register_only", END)
    .compile(name="ingest_file")
)

graph = (
    StateGraph(
        IngestionState, context_schema=Context, input_schema=IngestionInput, output_schema=IngestionOutput
    )
    .add_node("receive", as_node(receive))
    .add_node("ingest_file", ingest_file, error_handler=as_node(fail))
    .add_node("report", as_node(report))
    .add_edge(START, "receive")
    .add_conditional_edges("receive", as_edge(send_files), ["ingest_file", "report"])
    .add_edge("ingest_file", "report")
    .add_edge("report", END)
    .compile(name="ingestion")
    .with_config(max_concurrency=FILES_AT_ONCE)
)
