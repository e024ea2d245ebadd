"""Which tools a model is given."""

from functools import cache
from typing import Literal

from langchain_core.tools import BaseTool

from cognition.levels import Level
from tools.agents import consult_council
from tools.cognitive_level import level_tool
from tools.long_term_memory import delete_meta_artifact_item, search_meta_artifacts, update_meta_artifact
from tools.skills import forge_skill, list_skills


@cache
def echo_tools(targets: tuple[Level, ...], memory: Literal["on", "off"]) -> tuple[BaseTool, ...]:
    """The tools of the `echo` graph.

    Args:
        targets: Levels that can be reached from here; with none the level tool is not offered.
        memory: `off` leaves the tools of long-term memory out.
    """
    remembering = (update_meta_artifact, search_meta_artifacts, delete_meta_artifact_item)
    remembered = remembering if memory == "on" else ()
    return (
        *remembered,
        consult_council,
        list_skills,
        forge_skill,
        *([level_tool(targets)] if targets else ()),
    )
