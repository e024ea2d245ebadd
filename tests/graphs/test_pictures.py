"""The graphs and their input forms, as Studio shows them."""

from syrupy.assertion import SnapshotAssertion

from graphs.council import graph as council
from graphs.delegation import graph as delegation
from graphs.echo import graph
from graphs.ingestion import graph as ingestion


def test_the_picture_of_echo(snapshot: SnapshotAssertion) -> None:
    assert graph.get_graph().draw_mermaid(with_styles=False) == snapshot


def test_the_forms_of_echo(snapshot: SnapshotAssertion) -> None:
    assert graph.get_input_jsonschema()["properties"].keys() == {"messages"}
    assert graph.get_context_jsonschema() == snapshot


def test_the_picture_of_the_council(snapshot: SnapshotAssertion) -> None:
    assert council.get_graph().draw_mermaid(with_styles=False) == snapshot


def test_the_forms_of_the_council() -> None:
    assert council.get_input_jsonschema()["properties"].keys() == {
        "question",
        "participants",
        "target_model",
        "synthesis_model",
        "rounds",
        "history_depth",
        "distillation_focus",
        "messages",
    }
    assert council.get_output_jsonschema()["properties"].keys() == {"report", "deliberation"}


def test_the_picture_of_the_ingestion(snapshot: SnapshotAssertion) -> None:
    assert ingestion.get_graph(xray=True).draw_mermaid(with_styles=False) == snapshot


def test_the_forms_of_the_ingestion() -> None:
    fields = ingestion.get_input_jsonschema()["properties"].keys()
    assert fields == {"files", "context_fill", "message_id"}
    assert ingestion.get_output_jsonschema()["properties"].keys() == {"report"}


def test_the_picture_of_the_delegation(snapshot: SnapshotAssertion) -> None:
    assert delegation.get_graph().draw_mermaid(with_styles=False) == snapshot


def test_the_forms_of_the_delegation() -> None:
    fields = delegation.get_input_jsonschema()["properties"].keys()
    assert fields == {"task", "system_prompt", "skill_id", "request_id"}
    assert delegation.get_output_jsonschema()["properties"].keys() == {"outcome"}
