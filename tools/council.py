"""The tool that runs a council of experts."""

from html import escape
from typing import Annotated, Any, cast

from langchain_core.tools import BaseTool, tool
from langgraph.constants import TAG_NOSTREAM
from langgraph.prebuilt import ToolRuntime
from pydantic import WithJsonSchema

from cognition.context import Context, Graph, context_of
from cognition.council.request import InvalidCouncil
from cognition.state.council import CouncilInput, CouncilOutput
from cognition.state.echo import EchoState
from cognition.text.blocks import DATA, block

Runtime = ToolRuntime[Context, EchoState]

Ids = Annotated[object, WithJsonSchema({"type": "string"})]
"""Declared as a string; a list is accepted too."""

Rounds = Annotated[int | None, WithJsonSchema({"type": "integer"})]
"""Declared as an integer; None means the number in the settings."""

Result = tuple[str, dict[str, Any]]
"""The text for the model, and the artifact stored with the tool message."""


def council_tool(graph: Graph) -> BaseTool:
    """Build the tool that runs a council.

    Args:
        graph: The `council` graph.
    """
    # No checkpointer, so that the council isn't stored among the chat's checkpoints.
    council = graph.copy(update={"checkpointer": False})

    @tool(parse_docstring=True, response_format="content_and_artifact")
    async def consult_council(
        question: str,
        participants: Ids,
        runtime: Runtime,
        target_model: str = "MODEL_PRO",
        synthesis_model: str = "MODEL_FLASH",
        rounds: Rounds = None,
        history_depth: int = 20,
        distillation_focus: str = "",
    ) -> Result:
        """Have several experts deliberate on a question in rounds, in which each responds to the others.

        Call it when the user asks for a council, or for a decision that is hard to undo and has more than one
        side. It takes minutes and many calls: don't use it for questions that you or one expert can answer.
        The result starts with who answered, followed by consensus, divergences, minority report and
        positions. Tell the user if the council was incomplete.

        Args:
            question: A self-contained question: the decision to make, and the options.
            participants: Two to five skill ids, separated by commas; `list_skills` shows them. Choose experts
                with different views.
            runtime: Injected by the graph.
            target_model: The level of the experts: MODEL_LITE, MODEL_FLASH or MODEL_PRO.
            synthesis_model: The level of the neutral rapporteur, who writes the synthesis.
            rounds: The number of rounds, 1 to 5; usually 3. One round gathers independent opinions.
            history_depth: The number of newest messages of this chat to summarise for the experts; 0 for
                none.
            distillation_focus: Details that the summary must include.
        """
        request: dict[str, Any] = {
            "question": question,
            "participants": participants,
            "target_model": target_model,
            "synthesis_model": synthesis_model,
            "rounds": rounds,
            "history_depth": history_depth,
            "distillation_focus": distillation_focus,
            "messages": runtime.state["messages"],
        }
        try:
            result = await _run(council, cast("CouncilInput", request), runtime)
        except InvalidCouncil as error:
            return f"Error: {escape(error.for_model, quote=False)}", {}
        deliberation, report = result["deliberation"], result["report"]
        failed = "Error: no participant answered.\n" if deliberation["outcome"] == "failed" else ""
        return f"{failed}{block('council', report, note=DATA)}", deliberation

    return consult_council


async def _run(graph: Graph, request: CouncilInput, runtime: Runtime) -> CouncilOutput:
    """Run a council. The chat's stream gets its events, but none of its messages."""
    result: Any = {}
    async for mode, part in graph.astream(
        request,
        {"tags": [TAG_NOSTREAM]},
        context=context_of(runtime),
        stream_mode=["custom", "values"],
        output_keys=["report", "deliberation"],
    ):
        if mode == "custom":
            runtime.stream_writer(part)
        else:
            result = part
    return cast("CouncilOutput", result)
