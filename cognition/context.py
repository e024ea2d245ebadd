"""The context of a run: user, policy and memory mode. Studio shows it as a form."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from reprlib import repr as short_repr
from typing import Any, Literal, get_args

from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import Runtime

from cognition.errors import InvalidInput
from cognition.identity import Identity
from cognition.levels import Level, Policy
from cognition.services import Services, process_services

MemoryMode = Literal["on", "off"]


@dataclass(frozen=True, kw_only=True)
class Context:
    """The options that a caller sets for a whole run."""

    user_id: str = field(
        default="local",
        metadata={"description": "The user whose memories are read and written; must not be blank."},
    )
    user_name: str = field(
        default="", metadata={"description": "The name by which the assistant may address the user."}
    )
    policy: Policy = field(
        default="AUTO_PRO",
        metadata={
            "description": "AUTO starts at LITE and may escalate to FLASH, AUTO_PRO up to PRO; "
            "MODEL_LITE, MODEL_FLASH and MODEL_PRO stay at one level."
        },
    )
    memory: MemoryMode = field(
        default="on", metadata={"description": "With off, this chat neither recalls nor stores memories."}
    )

    def __post_init__(self) -> None:
        """Check the values, since API clients are not limited to the options of the form.

        Raises:
            InvalidInput: If the policy is unknown, or the memory mode is neither on nor off.
        """
        for name, value, allowed in (
            ("policy", self.policy, get_args(Policy)),
            ("memory", self.memory, get_args(MemoryMode)),
        ):
            if value not in allowed:
                msg = f"Invalid {name} {short_repr(value)} in the context: expected {' or '.join(allowed)}."
                raise InvalidInput(msg)

    def services(self) -> Services:
        """Return the stores and models of this process."""
        return process_services()


@dataclass(frozen=True, kw_only=True)
class BoundContext(Context):
    """A context with its own services, for programs that embed the graphs and for tests."""

    bound: Services
    chat_id: str = ""
    """The chat whose data the run works on; if empty, the chat of the run's thread."""

    def services(self) -> Services:
        """Return the services passed by the program."""
        return self.bound


Graph = CompiledStateGraph[Any, Context, Any, Any]
"""A compiled graph of this application."""

Toolset = Callable[[tuple[Level, ...], MemoryMode], tuple[BaseTool, ...]]
"""The tools to offer, given the levels within reach and the memory mode."""

AnyRuntime = Runtime[Context] | ToolRuntime[Context, Any]
"""The runtime that LangGraph passes to a node or a tool."""


def context_of(runtime: AnyRuntime) -> Context:
    """Return the run's context, or the default one, for the local user."""
    return runtime.context or Context()


def identity_of(runtime: AnyRuntime) -> Identity:
    """Return the user and chat of a run. The server's authenticated user takes precedence over the context's.

    Raises:
        InvalidInput: If the user is blank. A missing user must never mean all users.
    """
    info, server, context = runtime.execution_info, runtime.server_info, context_of(runtime)
    user_id = server.user.identity if server and server.user else context.user_id
    if not isinstance(user_id, str) or not user_id.strip():
        msg = (
            f"Invalid user {user_id!r}: expected a user id that is not blank. Pass a user_id, or omit the "
            "context to run as the local user."
        )
        raise InvalidInput(msg)
    if isinstance(context, BoundContext) and context.chat_id:
        return Identity(user_id, context.chat_id)
    chat_id = (info.thread_id or info.run_id or "") if info else ""
    return Identity(user_id, chat_id)


def for_sub_agent(runtime: AnyRuntime) -> BoundContext:
    """Return the context for a sub-agent's run: the same user, chat, policy and services."""
    context, identity = context_of(runtime), identity_of(runtime)
    values = {each.name: getattr(context, each.name) for each in fields(Context)}
    return BoundContext(
        **{**values, "user_id": identity.user_id}, bound=context.services(), chat_id=identity.chat_id
    )
