"""Creating, continuing, listing and closing the sub-agents of a chat. Each has its own thread."""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from contextvars import copy_context
from dataclasses import replace
from itertools import count
from reprlib import repr as short_repr
from typing import Any, TypeVar, cast

from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import set_config_context
from langgraph.types import StateSnapshot

from cognition.concurrency.exclusive_runs import RunBusy, RunStopped
from cognition.concurrency.tasks import wait_despite_cancel
from cognition.context import BoundContext, Graph
from cognition.delegation.assignment import (
    QUESTION_FIRST_NOTE,
    ROLE_KEPT_NOTE,
    Assignment,
    Report,
    finished_first_note,
)
from cognition.delegation.thread_start import check_expert, initial_input, lost_thread_message
from cognition.errors import InvalidInput
from cognition.models.retry import Notify
from cognition.state.delegation import DelegationInput, DelegationState
from cognition.storage.agent_threads import AgentThread
from cognition.storage.sqlite.checkpointer import ThreadSaver

T = TypeVar("T")


class UnknownAgent(InvalidInput):
    """The sub-agent does not exist. The message lists the open ones."""


class SubAgents:
    """The sub-agents of one user and chat.

    Args:
        graph: The `delegation` graph.
        context: The context of the run; its `chat_id` must be set.
    """

    def __init__(self, graph: Graph, context: BoundContext) -> None:
        self._graph = graph
        self._context = context
        self._services = context.services()
        self._owner = (context.user_id, context.chat_id)

    async def delegate(self, assignment: Assignment, notify: Notify = lambda event: None) -> Report:
        """Give a task to a sub-agent, or the answer to its question, and wait for the report.

        Args:
            assignment: The task and the sub-agent.
            notify: Receives the `delegation` events.

        Raises:
            InvalidInput: If the assignment is invalid, in which case nothing was done.
            RunStopped: If the session of the chat was closed in the meantime.
        """
        if not assignment.sub_sid:
            return await self._run_exclusively(await self._new(assignment), assignment, notify)
        thread = await self.find(assignment.sub_sid)
        if assignment.skill and assignment.skill_id != thread.skill_id:
            msg = (
                f"The sub-agent {thread.sub_sid!r} has the role {thread.role!r}, which can't change: leave "
                f"sub_sid empty to ask {assignment.role!r}."
            )
            raise InvalidInput(msg)
        return await self._run_exclusively(thread, assignment, notify)

    async def resume(self, sub_sid: str, notify: Notify = lambda event: None) -> Report:
        """Finish an interrupted task of a sub-agent. If nothing is unfinished, return its last outcome again.

        Raises:
            InvalidInput: If the chat has no such sub-agent, or it was interrupted before it started.
        """
        thread = await self.find(sub_sid)
        return await self._exclusive(thread, self._resumed(thread, notify))

    async def find(self, sub_sid: str) -> AgentThread:
        """Return a sub-agent of the chat.

        Raises:
            UnknownAgent: If the chat has no sub-agent with this id; the message lists the open ones.
        """
        threads = await self._services.threads()
        if thread := await asyncio.to_thread(threads.get, *self._owner, sub_sid):
            return thread
        listed = ", ".join(f"{thread.sub_sid} ({thread.role})" for thread in await self.open_threads())
        msg = (
            f"This chat has no sub-agent {short_repr(sub_sid)}. Open sub-agents: {listed or 'none'}. Leave "
            "sub_sid empty to start a new one."
        )
        raise UnknownAgent(msg)

    async def open_threads(self) -> list[AgentThread]:
        """Return the sub-agents of the chat, latest first."""
        threads = await self._services.threads()
        return await asyncio.to_thread(threads.of_chat, *self._owner)

    async def messages(self, sub_sid: str) -> list[AnyMessage]:
        """Return the messages of a sub-agent's thread, oldest first, without those condensed into notes.

        Raises:
            UnknownAgent: If the chat has no such sub-agent.
        """
        state = await self._state(await self.find(sub_sid))
        return cast("list[AnyMessage]", state.values.get("messages", []))

    async def close(self, sub_sid: str) -> AgentThread:
        """Close a sub-agent and delete its thread.

        Raises:
            InvalidInput: If the chat has no such sub-agent, or it is running.
        """
        thread = await self.find(sub_sid)
        await self._exclusive(thread, self._delete(thread))
        return thread

    async def _new(self, assignment: Assignment) -> AgentThread:
        """Return the thread for a new sub-agent, or the one this request created before a crash."""
        threads = await self._services.threads()
        for attempt in count():
            sub_sid = assignment.new_sid(*self._owner, attempt)
            known = await asyncio.to_thread(threads.get, *self._owner, sub_sid)
            if known is None:
                break
            request_id = (await self._state(known)).values.get("request_id", assignment.request_id)
            if request_id == assignment.request_id:
                return known
        user_id, chat_id = self._owner
        return AgentThread(
            user_id=user_id,
            chat_id=chat_id,
            sub_sid=sub_sid,
            role=assignment.role,
            skill_id=assignment.skill_id,
        )

    async def _exclusive(self, thread: AgentThread, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` as the only run of a thread. Closing the session of the chat stops it."""
        try:
            return await self._services.agent_runs.run(thread.key, self._owner, work)
        except RunBusy:
            msg = (
                f"The sub-agent {thread.sub_sid!r} is busy: call it again when it has answered, or leave "
                "sub_sid empty to start another one."
            )
            raise RunBusy(msg) from None
        except RunStopped:
            msg = "The session of this chat was closed, so the sub-agent was stopped and its work deleted."
            raise RunStopped(msg) from None

    async def _run_exclusively(self, thread: AgentThread, assignment: Assignment, notify: Notify) -> Report:
        try:
            return await self._exclusive(thread, self._answered(thread, assignment, notify))
        except RunStopped:
            _emit(thread, notify, "ended", status="stopped", level="")
            raise

    async def _answered(self, thread: AgentThread, assignment: Assignment, notify: Notify) -> Report:
        """Return the report on an assignment, whether it is new, interrupted or already done."""
        state = await self._state(thread)
        if state.values.get("request_id") == assignment.request_id:
            return await self._finished(thread, assignment.task, state, notify)
        notes = []
        if state.tasks:  # an interrupted run, possibly of this very assignment
            earlier = await self._finished(thread, thread.request, state, notify)
            state = await self._state(thread)
            if state.values["request_id"] == assignment.request_id:
                return earlier
            if earlier.outcome["status"] == "pending_question":
                return replace(earlier, note=QUESTION_FIRST_NOTE)
            notes.append(finished_first_note(thread.request, earlier.outcome))
        if state.values:
            payload = DelegationInput(task=assignment.task)
        else:
            payload = await initial_input(thread, assignment)
        payload["request_id"] = assignment.request_id
        report = await self._run(thread, assignment.task, payload, notify)
        if state.values and assignment.system_prompt not in ("", _role(state)):
            notes.append(ROLE_KEPT_NOTE)
        return replace(report, note="\n".join(notes))

    async def _resumed(self, thread: AgentThread, notify: Notify) -> Report:
        state = await self._state(thread)
        if not state.values:
            msg = f"The sub-agent {thread.sub_sid!r} never started: close it and give the task to a new one."
            raise InvalidInput(lost_thread_message(thread) if thread.steps else msg)
        return await self._finished(thread, thread.request, state, notify)

    async def _delete(self, thread: AgentThread) -> None:
        await (await self._services.checkpointer()).adelete_thread(thread.key)
        await asyncio.to_thread((await self._services.threads()).delete, thread)

    async def _finished(self, thread: AgentThread, task: str, state: StateSnapshot, notify: Notify) -> Report:
        """Return the report on the last task of a thread, after finishing it if it was interrupted."""
        if state.tasks:
            return await self._run(thread, task, None, notify)
        return await self._reported(thread, task, cast("DelegationState", state.values))

    async def _run(
        self, thread: AgentThread, task: str, payload: DelegationInput | None, notify: Notify
    ) -> Report:
        """Run the sub-agent on its thread, separately from the caller's run; without input, resume it."""
        await asyncio.to_thread(check_expert, thread, self._services.settings.home)
        caller = copy_context()  # the caller's stream accepts events only in its own context

        def emit(event: str, **fields: Any) -> None:
            caller.run(_emit, thread, notify, event, **fields)

        threads = await self._services.threads()
        current = replace(thread, policy=self._context.policy, memory=self._context.memory)
        begun = asyncio.ensure_future(asyncio.to_thread(threads.begin, current, task))
        await wait_despite_cancel(begun)  # otherwise the row could be written after a closure deleted it
        emit("started")
        saver = await self._services.checkpointer()
        # The caller's callbacks would stream the sub-agent's messages as the caller's own.
        with set_config_context(RunnableConfig()) as isolated:
            work = asyncio.create_task(self._run_graph(thread, payload, emit), context=isolated)
            values = await _finish(work, saver)
        report = await self._reported(thread, task, values)
        emit("ended", status=report.outcome["status"], level=report.outcome["level"])
        return report

    async def _run_graph(self, thread: AgentThread, payload: Any, emit: Any) -> DelegationState:
        """Run the graph to its end, storing each step before the next one starts, and return its output."""
        graph, config = await self._bound(thread)
        values: dict[str, Any] = {}
        stream = graph.astream(
            payload,
            config,
            context=self._context,
            stream_mode=["custom", "values"],
            output_keys=["outcome", "steps"],
            durability="sync",
        )
        async with aclosing(cast("Any", stream)) as parts:
            async for mode, part in parts:
                if mode == "custom":
                    emit(part["type"], **{key: value for key, value in part.items() if key != "type"})
                else:
                    values = part
        return cast("DelegationState", values)

    async def _reported(self, thread: AgentThread, task: str, values: DelegationState) -> Report:
        """Record the outcome in the index and return the report on it."""
        outcome = values["outcome"]
        threads = await self._services.threads()
        known = await asyncio.to_thread(
            threads.finish,
            thread,
            status="waiting" if outcome["status"] == "pending_question" else "open",
            level=outcome["level"],
            steps=values["steps"],
            request=task,
            answer=outcome["text"],
        )
        if not known:  # the session was closed in the meantime, which deletes its sub-agents
            await (await self._services.checkpointer()).adelete_thread(thread.key)
        return Report(sub_sid=thread.sub_sid, role=thread.role, outcome=outcome)

    async def _state(self, thread: AgentThread) -> StateSnapshot:
        graph, config = await self._bound(thread)
        return await graph.aget_state(config)

    async def _bound(self, thread: AgentThread) -> tuple[Graph, RunnableConfig]:
        saver = await self._services.checkpointer()
        config = RunnableConfig(configurable={"thread_id": thread.key})
        return self._graph.copy(update={"checkpointer": saver}), config


async def _finish(work: asyncio.Task[DelegationState], saver: ThreadSaver) -> DelegationState:
    """Wait for a run. If cancelled, cancel the run too and wait until it has stopped writing."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.cancel()  # only once: a second cancellation makes the graph abandon its step
        await wait_despite_cancel(work)
        raise
    finally:
        await saver.wait_for_writes()


def _emit(thread: AgentThread, notify: Notify, event: str, **fields: Any) -> None:
    notify({"type": "delegation", "event": event, "sub_sid": thread.sub_sid, "role": thread.role, **fields})


def _role(state: StateSnapshot) -> str:
    """Return the role in the caller's words, as stored in the thread."""
    messages = state.values.get("messages", [])
    return next((message.text for message in messages if isinstance(message, SystemMessage)), "")
