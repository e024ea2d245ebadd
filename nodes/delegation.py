"""Nodes of the `delegation` graph: take a task, think, use tools, then answer or ask a question."""

import asyncio
from collections.abc import Sequence
from reprlib import repr as short_repr
from time import monotonic
from typing import Any, Final, Literal, cast

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from cognition.context import Context, Toolset, context_of, identity_of
from cognition.delegation.question import question_in
from cognition.errors import InvalidInput
from cognition.levels import TRANSFER_TOOL, Level
from cognition.messages.history import STAMP
from cognition.models.outcome import Failure
from cognition.prompts.delegation import NOT_RUN, agent_prompt, budget_note, notes_block
from cognition.prompts.echo import plan_block
from cognition.skills.skill import InvalidSkill, Skill
from cognition.skills.vault import Vault
from cognition.state.delegation import AgentOutcome, DelegationState
from cognition.state.turn import (
    Turn,
    calls_left,
    open_targets,
    open_turn,
    seconds_left,
    with_cut,
    with_seconds,
)
from cognition.text.sanitize import clean
from nodes.model_outcome import apply_outcome
from nodes.prompt import with_text
from nodes.thinking import tool_node
from nodes.tool_results import without_long_results

OutcomeStatus = Literal["success", "pending_question", "budget_exhausted", "error"]

OUT_OF_TIME: Final = "its time was used up"
CUT_SHORT: Final = "\n\n(The answer is cut off: the model reached its output limit.)"


async def open_thread(state: DelegationState, runtime: Runtime[Context]) -> DelegationState:
    """Take the task and open the turn's account.

    Raises:
        InvalidInput: If the task or the user is blank, or the skill unknown.
    """
    context, services = context_of(runtime), context_of(runtime).services()
    identity_of(runtime)
    task, role = state.get("task") or "", state.get("system_prompt") or ""
    if not (isinstance(task, str) and isinstance(role, str)):
        msg = f"Invalid task {short_repr(task)} or system_prompt {short_repr(role)}: expected two strings."
        raise InvalidInput(msg)
    task, role = clean(task).strip(), clean(role).strip()
    if not task:
        msg = "Invalid task: it is blank. Describe what the sub-agent should do."
        raise InvalidInput(msg)
    messages = state.get("messages", [])
    skill_id = _first_skill(messages, state.get("skill_id") or "")
    await _skill({"skill_id": skill_id}, runtime)
    opening = [SystemMessage(role)] if role and not messages else []
    message = HumanMessage(task, response_metadata={STAMP: {"skill_id": skill_id}})
    return {
        "skill_id": skill_id,
        "turn": open_turn(context.policy, services.settings, state.get("turn")),
        "calls": 0,
        "summary": state.get("summary", ""),
        "notes_failed": False,
        "messages": [*opening, message],
    }


async def think(state: DelegationState, runtime: Runtime[Context], *, toolset: Toolset) -> DelegationState:
    """Call the model of the turn's level once, unless a budget is spent.

    Args:
        state: The thread.
        runtime: The run's runtime.
        toolset: The tools to offer.
    """
    context = context_of(runtime)
    turn, settings = state["turn"], context.services().settings
    if cut := _cut(state, runtime):
        return {"turn": with_cut(turn, cut)}
    targets = open_targets(turn, context.policy, settings)
    turn, messages = await _call_model(state, targets, runtime, toolset(targets, context.memory))
    if seconds_left(turn, settings) <= 0 and any("error" in _stamp(message) for message in messages):
        # Our own time limit, not a failure: `wrap_up` still asks for an answer.
        return {"turn": with_cut(turn, OUT_OF_TIME)}
    return {"turn": turn, "messages": messages}


async def use_tools(
    state: DelegationState, runtime: Runtime[Context], *, toolset: Toolset
) -> DelegationState:
    """Run the tool calls of the newest message that the budget allows; the others get an error.

    Args:
        state: The thread.
        runtime: The run's runtime.
        toolset: The tools that were offered.
    """
    started = monotonic()
    settings = context_of(runtime).services().settings
    newest = cast("AIMessage", state["messages"][-1])
    counted = [call["id"] for call in newest.tool_calls if call["name"] != TRANSFER_TOOL]
    left = settings.delegate_max_calls - state["calls"]
    not_run = counted[left:]
    allowed = newest.model_copy(
        update={"tool_calls": [call for call in newest.tool_calls if call["id"] not in not_run]}
    )
    results = await _run(allowed, state, runtime, toolset)
    results += [_not_run(call) for call in newest.tool_calls if call["id"] in not_run]
    order = [call["id"] for call in newest.tool_calls]
    results.sort(key=lambda result: order.index(result.tool_call_id))
    used = state["calls"] + len(counted) - len(not_run)
    note = budget_note(settings.delegate_max_calls - used, settings.delegate_max_calls)
    results[-1] = _with_note(results[-1], note)
    return {
        "turn": with_seconds(state["turn"], monotonic() - started),
        "calls": used,
        "messages": [*results],
    }


async def wrap_up(state: DelegationState, runtime: Runtime[Context]) -> DelegationState:
    """Ask the agent for an answer from what it has, because its budget is spent."""
    turn, messages = await _call_model(state, (), runtime)
    answers = [
        _not_run(call)
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]
    return {"turn": {**turn, "transfer": None}, "messages": [*messages, *answers]}


async def ask(state: DelegationState, runtime: Runtime[Context]) -> DelegationState:
    """End the turn with the agent's question."""
    return _closed(state, "pending_question")


async def close_turn(state: DelegationState, runtime: Runtime[Context]) -> DelegationState:
    """End the turn with its outcome."""
    newest = state["messages"][-1]
    if "error" in _stamp(newest):
        return _closed(state, "error")
    if question_in(newest.text):  # asked in the last call, which bypasses the `ask` step
        return _closed(state, "pending_question")
    return _closed(state, "budget_exhausted" if state["turn"]["cut"] else "success")


def route_after_think(
    state: DelegationState,
) -> Literal["use_tools", "escalate", "ask", "wrap_up", "close_turn"]:
    """Return the step after a model call: tools, a transfer, a question, or the end of the turn."""
    newest, turn = state["messages"][-1], state["turn"]
    if turn["cut"]:
        return "wrap_up"
    if isinstance(newest, AIMessage) and newest.tool_calls:
        return "use_tools"
    if turn["transfer"]:
        return "escalate"
    return "ask" if question_in(newest.text) else "close_turn"


async def _call_model(
    state: DelegationState,
    targets: tuple[Level, ...],
    runtime: Runtime[Context],
    tools: Sequence[BaseTool] = (),
) -> tuple[Turn, list[AnyMessage]]:
    """Call the model of the turn's level; without tools when a budget is spent."""
    context = context_of(runtime)
    services, turn = context.services(), state["turn"]
    try:
        request = await _prompt(state, targets, runtime)
    except InvalidSkill as error:  # deleted during the agent's turn
        return apply_outcome(Failure("refused", str(error), turn["level"], ""), turn, runtime)
    outcome = await services.models.call(
        turn["level"],
        request,
        tools=tools,
        fall_back=context.policy in ("AUTO", "AUTO_PRO"),
        seconds=None if turn["cut"] else seconds_left(turn, services.settings),
        notify=runtime.stream_writer,
    )
    return apply_outcome(outcome, turn, runtime)


async def _prompt(
    state: DelegationState, targets: tuple[Level, ...], runtime: Runtime[Context]
) -> list[AnyMessage]:
    """Return the messages of one call: the role, the thread, and this turn's blocks under the newest task."""
    turn = state["turn"]
    messages: list[AnyMessage] = [m for m in state["messages"] if not isinstance(m, SystemMessage)]
    role = next((m.text for m in state["messages"] if isinstance(m, SystemMessage)), "")
    if text := "\n\n".join(filter(None, [notes_block(state["summary"]), plan_block(turn["plan"])])):
        newest = max(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
        messages[newest] = with_text(messages[newest], text)
    system = agent_prompt(
        turn["level"],
        may_climb=bool(targets),
        calls=context_of(runtime).services().settings.delegate_max_calls,
        role=role,
        skill=await _skill(state, runtime),
        cut=turn["cut"],
    )
    return [SystemMessage(system), *messages]


def _first_skill(messages: list[AnyMessage], default: str) -> str:
    """Return the skill that the thread started with, which is stamped on its tasks, or `default`."""
    task = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
    return str(_stamp(task).get("skill_id", default)) if task else default


async def _skill(state: DelegationState, runtime: Runtime[Context]) -> Skill | None:
    """Return the agent's expert, read for each call because threads store only its id."""
    if not (skill_id := state.get("skill_id", "")):
        return None
    vault = Vault(context_of(runtime).services().settings.home, identity_of(runtime).user_id)
    return await asyncio.to_thread(vault.find_skill, skill_id)


async def _run(
    allowed: AIMessage, state: DelegationState, runtime: Runtime[Context], toolset: Toolset
) -> list[ToolMessage]:
    if not allowed.tool_calls:
        return []
    context = context_of(runtime)
    for call in allowed.tool_calls:
        runtime.stream_writer({"type": "tool", "name": call["name"], "status": "start"})
    targets = open_targets(state["turn"], context.policy, context.services().settings)
    node = tool_node(toolset, targets, context.memory)
    results = await node.ainvoke({**state, "messages": [*state["messages"][:-1], allowed]})
    for call in allowed.tool_calls:
        runtime.stream_writer({"type": "tool", "name": call["name"], "status": "end"})
    return await without_long_results(results["messages"], runtime)


def _cut(state: DelegationState, runtime: Runtime[Context]) -> str:
    """Return the spent budget as a clause, such as "its time was used up"; empty if none is."""
    turn, settings = state["turn"], context_of(runtime).services().settings
    if state["calls"] >= settings.delegate_max_calls:
        return "its tool calls were used up"
    if calls_left(turn, settings) <= 1:
        return "its model calls were used up"
    return OUT_OF_TIME if seconds_left(turn, settings) <= 0 else ""


def _closed(state: DelegationState, status: OutcomeStatus) -> DelegationState:
    turn, messages = state["turn"], state["messages"]
    level = next((_stamp(m)["level"] for m in reversed(messages) if "level" in _stamp(m)), turn["level"])
    outcome = AgentOutcome(status=status, text=_answer(messages), level=level, calls=state["calls"])
    return {"outcome": outcome, "steps": state.get("steps", 0) + sum(turn["calls"].values())}


def _answer(messages: list[AnyMessage]) -> str:
    """Return the turn's last answer; a failure comes after the best earlier answer."""
    failure, best = "", ""
    for message in reversed(messages):
        if isinstance(message, HumanMessage) or best:
            break
        if isinstance(message, AIMessage) and "error" in _stamp(message):
            failure = message.text
        elif isinstance(message, AIMessage):
            asks = question_in(message.text)  # nothing may follow a question
            cut_short = "truncated" in _stamp(message) and not asks
            best = message.text.strip() + (CUT_SHORT if cut_short else "")
    return "\n\n".join(filter(None, [best, failure])) or "I have no answer."


def _stamp(message: AnyMessage) -> dict[str, Any]:
    return cast("dict[str, Any]", message.response_metadata.get(STAMP, {}))


def _not_run(call: ToolCall) -> ToolMessage:
    return ToolMessage(NOT_RUN, tool_call_id=cast("str", call["id"]), name=call["name"], status="error")


def _with_note(result: ToolMessage, note: str) -> ToolMessage:
    """Return a result with a note below it; the note is stored, so that later prompts can be cached."""
    content = cast("str | list[Any]", result.content)
    noted = f"{content}\n{note}" if isinstance(content, str) else [*content, {"type": "text", "text": note}]
    return result.model_copy(update={"content": noted})
