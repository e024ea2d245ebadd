"""Sub-agents on threads of their own: opened, gone on with, listed and closed, each for one user and chat."""

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
    ASKS_FIRST,
    KEEPS_ITS_ROLE,
    Assignment,
    Report,
    finished_first_note,
)
from cognition.delegation.thread_start import beginning, check_expert, lost
from cognition.errors import InvalidInput
from cognition.models.retry import Notify
from cognition.state.delegation import DelegationInput, DelegationState
from cognition.storage.agent_threads import AgentThread
from cognition.storage.sqlite.checkpointer import ThreadSaver

T = TypeVar("T")


class UnknownAgent(InvalidInput):
    """The chat has no such sub-agent."""


class SubAgents:
    """The sub-agents of one user and chat.

    Args:
        graph: The `delegation` graph.
        context: Whose they are; its chat is given.
    """

    def __init__(self, graph: Graph, context: BoundContext) -> None:
        self._graph = graph
        self._context = context
        self._services = context.services()
        self._place = (context.user_id, context.chat_id)

    async def delegate(self, assignment: Assignment, notify: Notify = lambda event: None) -> Report:
        """Have a sub-agent do a task, or give it the answer to its question.

        Args:
            assignment: What is to be done, and by whom.
            notify: Gets the `delegation` events.

        Raises:
            InvalidInput: The assignment can't be meant so; nothing was done.
            RunStopped: The chat was closed meanwhile.
        """
        if not assignment.sub_sid:
            return await self._claimed(await self._new(assignment), assignment, notify)
        thread = await self.find(assignment.sub_sid)
        if assignment.skill and assignment.skill_id != thread.skill_id:
            msg = (
                f"The sub-agent {thread.sub_sid!r} is {thread.role!r} and stays it: leave sub_sid empty to "
                f"ask {assignment.role!r}."
            )
            raise InvalidInput(msg)
        return await self._claimed(thread, assignment, notify)

    async def resume(self, sub_sid: str, notify: Notify = lambda event: None) -> Report:
        """Finish what a sub-agent was cut off at; where nothing is unfinished, tell its last outcome again.

        Raises:
            InvalidInput: The chat has no such sub-agent, or it had not begun.
        """
        thread = await self.find(sub_sid)
        return await self._alone(thread, self._resumed(thread, notify))

    async def find(self, sub_sid: str) -> AgentThread:
        """A sub-agent of the chat.

        Raises:
            UnknownAgent: The chat has none of this id; the sentence names those that there are.
        """
        threads = await self._services.threads()
        if found := await asyncio.to_thread(threads.get, *self._place, sub_sid):
            return found
        listed = ", ".join(f"{thread.sub_sid} ({thread.role})" for thread in await self.open_threads())
        there = f"Open are: {listed}" if listed else "None is open"
        msg = f"This chat has no sub-agent {short_repr(sub_sid)}. {there}; leave sub_sid empty for a new one."
        raise UnknownAgent(msg)

    async def open_threads(self) -> list[AgentThread]:
        """The sub-agents of the chat, the one that moved last first."""
        threads = await self._services.threads()
        return await asyncio.to_thread(threads.of_chat, *self._place)

    async def messages(self, sub_sid: str) -> list[AnyMessage]:
        """What was said in a sub-agent's thread, oldest first; of what was condensed only the rest.

        Raises:
            UnknownAgent: The chat has no such sub-agent.
        """
        state = await self._state(await self.find(sub_sid))
        return cast("list[AnyMessage]", state.values.get("messages", []))

    async def close(self, sub_sid: str) -> AgentThread:
        """End a sub-agent and delete its thread.

        Raises:
            InvalidInput: The chat has no such sub-agent, or it is at work.
        """
        thread = await self.find(sub_sid)
        await self._alone(thread, self._deleted(thread))
        return thread

    async def _new(self, assignment: Assignment) -> AgentThread:
        """The thread of a new agent, or of the one that this very request opened before a crash."""
        threads = await self._services.threads()
        for attempt in count():
            sub_sid = assignment.new_sid(*self._place, attempt)
            known = await asyncio.to_thread(threads.get, *self._place, sub_sid)
            if known is None:
                break
            asked = (await self._state(known)).values.get("request_id", assignment.request_id)
            if asked == assignment.request_id:
                return known
        user_id, chat_id = self._place
        return AgentThread(
            user_id=user_id,
            chat_id=chat_id,
            sub_sid=sub_sid,
            role=assignment.role,
            skill_id=assignment.skill_id,
        )

    async def _alone(self, thread: AgentThread, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` as the only run of a thread, until its chat is closed."""
        try:
            return await self._services.agent_runs.run(thread.key, self._place, work)
        except RunBusy:
            msg = (
                f"The sub-agent {thread.sub_sid!r} is busy: call it again when it has answered, or leave "
                "sub_sid empty for another one."
            )
            raise RunBusy(msg) from None
        except RunStopped:
            msg = "The chat was closed, which stopped the sub-agent and deleted its work."
            raise RunStopped(msg) from None

    async def _claimed(self, thread: AgentThread, assignment: Assignment, notify: Notify) -> Report:
        try:
            return await self._alone(thread, self._answered(thread, assignment, notify))
        except RunStopped:
            _tell(thread, notify, "ended", status="stopped", level="")
            raise

    async def _answered(self, thread: AgentThread, assignment: Assignment, notify: Notify) -> Report:
        """The report on an assignment, whether it is new, was cut off, or was done before."""
        state = await self._state(thread)
        if state.values.get("request_id") == assignment.request_id:
            return await self._finished(thread, assignment.task, state, notify)
        notes = []
        if state.tasks:  # it was cut off, perhaps as soon as it had taken this very assignment
            earlier = await self._finished(thread, thread.request, state, notify)
            state = await self._state(thread)
            if state.values["request_id"] == assignment.request_id:
                return earlier
            if earlier.outcome["status"] == "pending_question":
                return replace(earlier, note=ASKS_FIRST)
            notes.append(finished_first_note(thread.request, earlier.outcome))
        if state.values:
            given = DelegationInput(task=assignment.task)
        else:
            given = await beginning(thread, assignment)
        given["request_id"] = assignment.request_id
        report = await self._run(thread, assignment.task, given, notify)
        if state.values and assignment.system_prompt not in ("", _role(state)):
            notes.append(KEEPS_ITS_ROLE)
        return replace(report, note="\n".join(notes))

    async def _resumed(self, thread: AgentThread, notify: Notify) -> Report:
        state = await self._state(thread)
        if not state.values:
            msg = f"The sub-agent {thread.sub_sid!r} had not begun: close it, and give the task to a new one."
            raise InvalidInput(lost(thread) if thread.steps else msg)
        return await self._finished(thread, thread.request, state, notify)

    async def _deleted(self, thread: AgentThread) -> None:
        await (await self._services.checkpointer()).adelete_thread(thread.key)
        await asyncio.to_thread((await self._services.threads()).delete, thread)

    async def _finished(
        self, thread: AgentThread, asked: str, state: StateSnapshot, notify: Notify
    ) -> Report:
        """The report on what a thread was at; what is left of it is done first."""
        if state.tasks:
            return await self._run(thread, asked, None, notify)
        return await self._reported(thread, asked, cast("DelegationState", state.values))

    async def _run(
        self, thread: AgentThread, asked: str, given: DelegationInput | None, notify: Notify
    ) -> Report:
        """Let the agent work on its thread, in streams of its own; without input it goes on where it was."""
        await asyncio.to_thread(check_expert, thread, self._services.settings.home)
        here = copy_context()  # where the caller's stream takes events

        def tell(event: str, **told: Any) -> None:
            here.run(_tell, thread, notify, event, **told)

        threads = await self._services.threads()
        under = replace(thread, policy=self._context.policy, memory=self._context.memory)
        begun = asyncio.ensure_future(asyncio.to_thread(threads.begin, under, asked))
        await wait_despite_cancel(begun)  # else its row could come behind a closing
        tell("started")
        saver = await self._services.checkpointer()
        # Nothing of the caller's run: its callbacks would stream the agent's messages as the caller's own.
        with set_config_context(RunnableConfig()) as alone:
            work = asyncio.create_task(self._worked(thread, given, tell), context=alone)
            values = await _over(work, saver)
        report = await self._reported(thread, asked, values)
        tell("ended", status=report.outcome["status"], level=report.outcome["level"])
        return report

    async def _worked(self, thread: AgentThread, given: Any, tell: Any) -> DelegationState:
        """Run the graph to its end, each step stored before the next begins, and tell what it came to."""
        graph, config = await self._bound(thread)
        values: dict[str, Any] = {}
        stream = graph.astream(
            given,
            config,
            context=self._context,
            stream_mode=["custom", "values"],
            output_keys=["outcome", "steps"],
            durability="sync",
        )
        async with aclosing(cast("Any", stream)) as parts:
            async for mode, part in parts:
                if mode == "custom":
                    tell(part["type"], **{key: value for key, value in part.items() if key != "type"})
                else:
                    values = part
        return cast("DelegationState", values)

    async def _reported(self, thread: AgentThread, asked: str, values: DelegationState) -> Report:
        outcome = values["outcome"]
        threads = await self._services.threads()
        known = await asyncio.to_thread(
            threads.finish,
            thread,
            status="waiting" if outcome["status"] == "pending_question" else "open",
            level=outcome["level"],
            steps=values["steps"],
            request=asked,
            answer=outcome["text"],
        )
        if not known:  # its chat was closed meanwhile: nothing of it stays
            await (await self._services.checkpointer()).adelete_thread(thread.key)
        return Report(sub_sid=thread.sub_sid, role=thread.role, outcome=outcome)

    async def _state(self, thread: AgentThread) -> StateSnapshot:
        graph, config = await self._bound(thread)
        return await graph.aget_state(config)

    async def _bound(self, thread: AgentThread) -> tuple[Graph, RunnableConfig]:
        saver = await self._services.checkpointer()
        config = RunnableConfig(configurable={"thread_id": thread.key})
        return self._graph.copy(update={"checkpointer": saver}), config


async def _over(work: asyncio.Task[DelegationState], saver: ThreadSaver) -> DelegationState:
    """What comes of a run; when it is given up, nothing of it is written after that."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.cancel()  # once, however often we are: at a second time the graph leaves its step behind
        await wait_despite_cancel(work)
        raise
    finally:
        await saver.written()


def _tell(thread: AgentThread, notify: Notify, event: str, **told: Any) -> None:
    notify({"type": "delegation", "event": event, "sub_sid": thread.sub_sid, "role": thread.role, **told})


def _role(state: StateSnapshot) -> str:
    """The role in the caller's words, as the thread has it."""
    messages = state.values.get("messages", [])
    return next((message.text for message in messages if isinstance(message, SystemMessage)), "")
