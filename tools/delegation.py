"""The tools for sub-agents: delegate a task, consult an expert, list and close agents."""

import asyncio
from html import escape
from typing import Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import ToolRuntime

from cognition.concurrency.exclusive_runs import RunStopped
from cognition.context import Context, Graph, context_of, for_sub_agent, identity_of
from cognition.council.briefing import context_block, distill_context
from cognition.council.request import HISTORY_DEPTH
from cognition.delegation.assignment import Assignment
from cognition.delegation.sub_agents import SubAgents
from cognition.errors import InvalidInput
from cognition.prompts.delegation import agents_text, report_text
from cognition.skills.skill import Skill
from cognition.skills.vault import Vault
from cognition.state.echo import EchoState

Runtime = ToolRuntime[Context, EchoState]

Result = tuple[str, dict[str, Any]]
"""The text for the model, and the artifact stored with the tool message."""


class DelegationTools:
    """The tools that run sub-agents on a graph.

    Args:
        graph: The `delegation` graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def delegate_to_agent(
        self, task: str, runtime: Runtime, system_prompt: str = "", sub_sid: str = "", skill_id: str = ""
    ) -> Result:
        """Delegate a task to a sub-agent that works on its own with search tools, and get its result.

        Call it for work that takes many steps or a lot of reading and whose details you don't need here.
        Several calls in one message run in parallel. The agent sees only what you write. If it asks a
        question, call it again with its sub_sid and the answer as the task. Use its sub_sid for further tasks
        too; it remembers the earlier ones.

        Args:
            task: A self-contained task: the goal, what is known, where to look, and the form of the result.
            runtime: Injected by the graph.
            system_prompt: The role, method and limits of a new agent; empty for a general one.
            sub_sid: The id of an existing agent to continue; empty for a new agent.
            skill_id: The id of the expert that a new agent acts as; `list_skills` shows the ids.
        """
        return await self._delegate(
            runtime, task=task, system_prompt=system_prompt, sub_sid=sub_sid, skill_id=skill_id
        )

    async def consult_expert_consultant(
        self, question: str, skill_id: str, runtime: Runtime, sub_sid: str = ""
    ) -> Result:
        """Consult one expert, who gets a summary of this chat.

        Call it when a question needs professional judgement; for several views, use `consult_council`. The
        first call opens a consultation and returns its sub_sid; pass it in later calls to continue the same
        discussion.

        Args:
            question: A self-contained question.
            skill_id: The id of the expert; `list_skills` shows the ids.
            runtime: Injected by the graph.
            sub_sid: The id of the consultation to continue; empty for a new one.
        """

        async def opening() -> str:
            services = context_of(runtime).services()
            brief = await distill_context(
                services.models,
                runtime.state["messages"],
                question,
                depth=HISTORY_DEPTH,
            )
            return context_block(brief)

        if not skill_id.strip():
            return "Error: the skill_id is blank. `list_skills` shows the available experts.", {}
        return await self._delegate(
            runtime, task=question, skill_id=skill_id, sub_sid=sub_sid, opening=opening
        )

    async def list_agent_sessions(self, runtime: Runtime) -> str:
        """List the open sub-agents and consultations of this chat.

        Call it when you no longer know a sub_sid, or when the user asks which agents are working.

        Args:
            runtime: Injected by the graph.
        """
        agents = self._agents(runtime)
        runs = context_of(runtime).services().agent_runs
        return agents_text([(thread, runs.is_running(thread.key)) for thread in await agents.open_threads()])

    async def close_agent_session(self, sub_sid: str, runtime: Runtime) -> str:
        """Close a sub-agent and delete its thread permanently.

        Call it when the agent's work is done and won't be continued.

        Args:
            sub_sid: The agent's id.
            runtime: Injected by the graph.
        """
        try:
            thread = await self._agents(runtime).close(sub_sid)
        except InvalidInput as error:
            return f"Error: nothing was closed. {_message(error)}"
        return f"Closed: {thread.sub_sid} ({_one_line(thread.role)})."

    async def _delegate(self, runtime: Runtime, *, skill_id: str = "", **fields: Any) -> Result:
        """Run an assignment. The chat's stream gets `delegation` events and none of the agent's messages."""
        # Both ids, because some models number their calls from zero in each message.
        request_id = f"{runtime.state['messages'][-1].id} {runtime.tool_call_id}"
        try:
            assignment = Assignment(**fields, skill=await _skill(skill_id, runtime), request_id=request_id)
            report = await self._agents(runtime).delegate(assignment, runtime.stream_writer)
        except RunStopped as error:
            return f"Error: {_message(error)}", {}
        except InvalidInput as error:
            return f"Error: nothing was done. {_message(error)}", {}
        max_calls = context_of(runtime).services().settings.delegate_max_calls
        return report_text(report, max_calls), {"sub_sid": report.sub_sid, **report.outcome}

    def _agents(self, runtime: Runtime) -> SubAgents:
        return SubAgents(self._graph, for_sub_agent(runtime))


async def _skill(skill_id: str, runtime: Runtime) -> Skill | None:
    if not skill_id.strip():
        return None
    vault = Vault(context_of(runtime).services().settings.home, identity_of(runtime).user_id)
    return await asyncio.to_thread(vault.find_skill, skill_id)


def _message(error: InvalidInput) -> str:
    return escape(str(error), quote=False)


def _one_line(text: str) -> str:
    return escape(" ".join(text.split()), quote=False)


def delegation_tools(graph: Graph) -> tuple[BaseTool, ...]:
    """Build the tools that start, continue, list and close sub-agents.

    Args:
        graph: The `delegation` graph.
    """
    tools = DelegationTools(graph)
    with_artifact = tool(parse_docstring=True, response_format="content_and_artifact")
    return (
        with_artifact(tools.delegate_to_agent),
        with_artifact(tools.consult_expert_consultant),
        tool(parse_docstring=True)(tools.list_agent_sessions),
        tool(parse_docstring=True)(tools.close_agent_session),
    )
