"""The tool that hands the turn to a higher level."""

from collections.abc import Sequence

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime

from cognition.context import Context, context_of
from cognition.levels import TRANSFER_TOOL, Level
from cognition.state.echo import EchoState
from cognition.state.turn import transfer_error

DESCRIPTION = """Hand this turn to a higher level of thought when the task needs more than you can give:
multi-step reasoning, planning, code, mathematics, weighing trade-offs, or after a failed attempt of yours.
The higher level sees the same conversation and your plan, and answers in your place, so write nothing else.
Don't call it for small talk, for a fact you know or for a question that a tool answers."""


async def new_cognitive_level(
    target_model: str, transfer_plan: str, runtime: ToolRuntime[Context, EchoState]
) -> str:
    """Return the result of a transfer request; the graph makes the transfer.

    Args:
        target_model: The level to hand the turn to.
        transfer_plan: Structured Markdown: objective, what is known, strategy, constraints, what is left.
        runtime: Injected by the graph.
    """
    context = context_of(runtime)
    turn = runtime.state["turn"]
    transfer = turn["transfer"]
    if transfer and transfer["target"] == target_model:
        return f"transferred to {target_model}"
    return transfer_error(target_model, transfer_plan, turn, context.policy, context.services().settings) or (
        "Error: only one transfer per message; this message already requested another one."
    )


def level_tool(targets: Sequence[Level]) -> BaseTool:
    """Build the tool with only the levels within reach in its schema.

    Args:
        targets: The levels within reach; at least one.
    """
    # A JSON schema, because pydantic turns an enum of one value into a constant, which Gemini rejects.
    arguments = {
        "title": "NewCognitiveLevel",
        "type": "object",
        "properties": {
            "target_model": {
                "type": "string",
                "enum": list(targets),
                "description": "The level to hand the turn to.",
            },
            "transfer_plan": {
                "type": "string",
                "description": "The plan, in Markdown with these headings: Objective, What is known, "
                "Strategy, Constraints, What is left.",
            },
        },
        "required": ["target_model", "transfer_plan"],
    }
    return StructuredTool.from_function(
        coroutine=new_cognitive_level, name=TRANSFER_TOOL, description=DESCRIPTION, args_schema=arguments
    )
