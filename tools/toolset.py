"""Which tools a model is given."""

from functools import cache
from typing import Final, Literal

from langchain_core.tools import BaseTool

from cognition.levels import Level
from tools.cognitive_level import level_tool
from tools.council import consult_council
from tools.delegation import (
    close_agent_session,
    consult_expert_consultant,
    delegate_to_agent,
    list_agent_sessions,
)
from tools.long_term_memory import delete_meta_artifact_item, search_meta_artifacts, update_meta_artifact
from tools.registry import query_registry
from tools.session_memory import (
    delete_session_context_source,
    save_session_context,
    search_sessions_context,
)
from tools.skills import forge_skill, list_skills

OWN_BUDGET: Final = frozenset({"delegate_to_agent", "consult_expert_consultant", "consult_council"})
"""Tools behind which others think, on a budget of their own."""

WITHHELD: Final = OWN_BUDGET | frozenset(
    {
        "list_agent_sessions",
        "close_agent_session",
        "forge_skill",
        "update_meta_artifact",
        "delete_meta_artifact_item",
        "delete_session_context_source",
    }
)
"""What a sub-agent is not given: it starts no others, and changes nothing that outlives the chat."""


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
        save_session_context,
        search_sessions_context,
        delete_session_context_source,
        query_registry,
        delegate_to_agent,
        consult_expert_consultant,
        list_agent_sessions,
        close_agent_session,
        consult_council,
        list_skills,
        forge_skill,
        *([level_tool(targets)] if targets else ()),
    )


@cache
def sub_agent_tools(targets: tuple[Level, ...], memory: Literal["on", "off"]) -> tuple[BaseTool, ...]:
    """The tools of the `delegation` graph: those of the chat that a sub-agent may use.

    Args:
        targets: See `echo_tools`.
        memory: See `echo_tools`.
    """
    return tuple(tool for tool in echo_tools(targets, memory) if tool.name not in WITHHELD)
