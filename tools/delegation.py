"""Sub-agents as a model calls them: give one a task or ask an expert, go on with it, list them, end one."""

import asyncio
from html import escape
from typing import Any

from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from cognition.concurrency.exclusive_runs import ThreadStopped
from cognition.context import Context, context_of, for_sub_agent, identity_of
from cognition.council.briefing import distill_context
from cognition.council.request import HISTORY_DEPTH
from cognition.delegation.assignment import Assignment
from cognition.delegation.sub_agents import SubAgents
from cognition.errors import Refused
from cognition.prompts.briefing import context_block
from cognition.prompts.delegation import listed, reported
from cognition.skills.skill import Skill
from cognition.skills.vault import Vault
from cognition.state.echo import EchoState

Runtime = ToolRuntime[Context, EchoState]

Result = tuple[str, dict[str, Any]]
"""What the model reads, and what the thread keeps with it: the message's artifact."""


@tool(parse_docstring=True, response_format="content_and_artifact")
async def delegate_to_agent(
    task: str, runtime: Runtime, system_prompt: str = "", sub_sid: str = "", skill_id: str = ""
) -> Result:
    """Hand a task to a sub-agent that works on it by itself with search tools, and get its result.

    Call it for work that takes many steps or much reading and whose details you don't need here; several
    calls in one message work side by side. The agent sees only what you write. It may ask back: then call it
    again with its sub_sid and the answer as the task. With its sub_sid you also give it further tasks; it
    remembers what was said.

    Args:
        task: What it shall do, complete in itself: the goal, what is known, where to look, what the result
            must look like.
        runtime: Injected by the graph.
        system_prompt: Who a new agent shall be: its role, method and limits; empty for a general one.
        sub_sid: The id of an agent that was called before, to go on with it; empty for a new agent.
        skill_id: The expert that a new agent shall be, as `list_skills` shows it.
    """
    return await _delegated(
        runtime, task=task, system_prompt=system_prompt, sub_sid=sub_sid, skill_id=skill_id
    )


@tool(parse_docstring=True, response_format="content_and_artifact")
async def consult_expert_consultant(
    question: str, skill_id: str, runtime: Runtime, sub_sid: str = ""
) -> Result:
    """Ask one expert, who is told what this chat is about, and talk on with them.

    Call it when a question needs the judgement of a profession; for several views use a council. The first
    call opens a consultation and gives its sub_sid: with it the expert remembers what you discussed.

    Args:
        question: What you want to know, complete in itself.
        skill_id: The expert, as `list_skills` shows it.
        runtime: Injected by the graph.
        sub_sid: The id of the consultation that you go on with; empty for a new one.
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
        return "Error: the skill_id is blank. `list_skills` shows the experts that there are.", {}
    return await _delegated(runtime, task=question, skill_id=skill_id, sub_sid=sub_sid, opening=opening)


@tool
async def list_agent_sessions(runtime: Runtime) -> str:
    """List the sub-agents and experts of this chat that can be gone on with.

    Call it when you don't know a sub_sid any more, or when the user asks who is at work.
    """
    agents = _agents(runtime)
    claims = context_of(runtime).services().claims
    return listed([(thread, claims.holds(thread)) for thread in await agents.open_threads()])


@tool(parse_docstring=True)
async def close_agent_session(sub_sid: str, runtime: Runtime) -> str:
    """End a sub-agent for good; what was said in its thread is deleted.

    Call it when its work is done and nobody will come back to it.

    Args:
        sub_sid: The agent's id.
        runtime: Injected by the graph.
    """
    try:
        thread = await _agents(runtime).close(sub_sid)
    except Refused as refusal:
        return f"Error: nothing is closed. {_told(refusal)}"
    return f"Closed: {thread.sub_sid} ({_one_line(thread.role)})."


async def _delegated(runtime: Runtime, *, skill_id: str = "", **wanted: Any) -> Result:
    """Have an assignment done; the chat's stream gets `delegation` events, and no message of the agent's."""
    # Both ids, because some models number the calls of each message from zero.
    request_id = f"{runtime.state['messages'][-1].id} {runtime.tool_call_id}"
    try:
        assignment = Assignment(**wanted, skill=await _skill(skill_id, runtime), request_id=request_id)
        report = await _agents(runtime).delegate(assignment, runtime.stream_writer)
    except ThreadStopped as stop:
        return f"Error: {_told(stop)}", {}
    except Refused as refusal:
        return f"Error: nothing was done. {_told(refusal)}", {}
    most = context_of(runtime).services().settings.delegate_max_calls
    return reported(report, most), {"sub_sid": report.sub_sid, **report.outcome}


def _agents(runtime: Runtime) -> SubAgents:
    # Here, because the graph stands on tools, and a tool of the chat on the graph.
    from graphs.delegation import graph  # noqa: PLC0415

    return SubAgents(graph, for_sub_agent(runtime))


async def _skill(skill_id: str, runtime: Runtime) -> Skill | None:
    if not skill_id.strip():
        return None
    vault = Vault(context_of(runtime).services().settings.home, identity_of(runtime).user_id)
    return await asyncio.to_thread(vault.find_skill, skill_id)


def _told(refusal: Refused) -> str:
    return escape(str(refusal), quote=False)


def _one_line(text: str) -> str:
    return escape(" ".join(text.split()), quote=False)
