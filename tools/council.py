"""Other minds as a model calls them: a council of experts."""

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
"""Told to the model as a text and taken as a list too."""

Rounds = Annotated[int | None, WithJsonSchema({"type": "integer"})]
"""Told to the model as an integer; None is the number of the settings."""

Result = tuple[str, dict[str, Any]]
"""What the model reads, and what the thread keeps with it: the message's artifact."""


def council_tool(graph: Graph) -> BaseTool:
    """Build the tool that runs a council.

    Args:
        graph: The `council` graph.
    """
    # Without a checkpointer: no council is stored among the checkpoints of the chat.
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
        """Let several experts deliberate on one question, in rounds in which each answers the others.

        Call it when the user asks for a council, or for a decision that is hard to undo and has more than one
        side. It takes minutes and many calls: don't use it for what you or one expert can answer. The result
        says first who answered; then consensus, divergences, minority report and positions. Tell the user
        when the council was not complete.

        Args:
            question: What they shall answer, complete in itself: what is to be decided, among which options.
            participants: Two to five skill ids, separated by commas; `list_skills` shows them. Choose experts
                who will see it differently.
            runtime: Injected by the graph.
            target_model: The level of the experts: MODEL_LITE, MODEL_FLASH or MODEL_PRO.
            synthesis_model: The level of the neutral rapporteur.
            rounds: How often each speaks, 1 to 5; normally 3. 1 gathers independent opinions.
            history_depth: How many of the newest messages of this chat are summarised for them; 0 for none.
            distillation_focus: What that summary must not leave out.
        """
        asked: dict[str, Any] = {
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
            held = await _run(council, cast("CouncilInput", asked), runtime)
        except InvalidCouncil as refusal:
            return f"Error: {escape(refusal.told, quote=False)}", {}
        told, report = held["deliberation"], held["report"]
        failed = "Error: nobody answered.\n" if told["outcome"] == "failed" else ""
        return f"{failed}{block('council', report, note=DATA)}", told

    return consult_council


async def _run(graph: Graph, asked: CouncilInput, runtime: Runtime) -> CouncilOutput:
    """Hold a council. The chat's stream gets its events, and no message of anyone's in it."""
    held: Any = {}
    async for mode, part in graph.astream(
        asked,
        {"tags": [TAG_NOSTREAM]},
        context=context_of(runtime),
        stream_mode=["custom", "values"],
        output_keys=["report", "deliberation"],
    ):
        if mode == "custom":
            runtime.stream_writer(part)
        else:
            held = part
    return cast("CouncilOutput", held)
