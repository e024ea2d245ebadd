"""Files that a chat is given: receive → one branch per file (extract → decide → …) → report."""

from langgraph.graph import END, START, StateGraph

from cognition.concurrency.event_loop import router, step
from cognition.context import Context
from cognition.state.echo import FileOutput, FileState, IngestionInput, IngestionOutput, IngestionState
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
"""Branches that run at once; the others wait."""

ingest_file = (
    StateGraph(FileState, context_schema=Context, output_schema=FileOutput)
    .add_node("extract", step(extract))
    .add_node("decide", step(decide))
    .add_node("put_in_context", step(put_in_context))
    .add_node("vectorize", step(vectorize))
    .add_node("sum_up", step(sum_up))
    .add_node("register_only", step(register_only))
    .add_edge(START, "extract")
    .add_edge("extract", "decide")
    .add_conditional_edges(
        "decide", router(route_after_decide), ["put_in_context", "vectorize", "register_only"]
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
    .add_node("receive", step(receive))
    .add_node("ingest_file", ingest_file, error_handler=step(fail))
    .add_node("report", step(report))
    .add_edge(START, "receive")
    .add_conditional_edges("receive", router(send_files), ["ingest_file", "report"])
    .add_edge("ingest_file", "report")
    .add_edge("report", END)
    .compile(name="ingestion")
    .with_config(max_concurrency=FILES_AT_ONCE)
)
