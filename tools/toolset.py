"""The tools each graph offers to its models."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from langchain_core.tools import BaseTool

from cognition.context import Graph, MemoryMode, Toolset
from cognition.levels import Level
from tools.cognitive_level import level_tool
from tools.council import council_tool
from tools.delegation import delegation_tools
from tools.long_term_memory import delete_meta_artifact_item, search_meta_artifacts, update_meta_artifact
from tools.registry import query_registry
from tools.session_memory import (
    delete_session_context_source,
    save_session_context,
    search_sessions_context,
)
from tools.skills import forge_skill, list_skills

LONG_TERM: Final = (update_meta_artifact, search_meta_artifacts, delete_meta_artifact_item)


def echo_toolset(*, delegation: Graph, council: Graph) -> Toolset:
    """Build the toolset of the `echo` graph.

    Args:
        delegation: The graph that runs a sub-agent's turn.
        council: The graph that runs a council.
    """
    return _toolset(
        *LONG_TERM,
        save_session_context,
        search_sessions_context,
        delete_session_context_source,
        query_registry,
        *delegation_tools(delegation),
        council_tool(council),
        list_skills,
        forge_skill,
    )


def sub_agent_toolset() -> Toolset:
    """Build the toolset of the `delegation` graph.

    A sub-agent starts no other agents and changes nothing that outlives the chat.
    """
    return _toolset(
        search_meta_artifacts, save_session_context, search_sessions_context, query_registry, list_skills
    )


def _toolset(*tools: BaseTool) -> Toolset:
    """Return a toolset: `tools`, without those for long-term memory if it is off, plus the level tool."""

    @cache
    def offered(targets: tuple[Level, ...], memory: MemoryMode) -> tuple[BaseTool, ...]:
        kept: Sequence[BaseTool] = [tool for tool in tools if memory == "on" or tool not in LONG_TERM]
        return (*kept, *([level_tool(targets)] if targets else ()))

    return offered
