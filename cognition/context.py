"""Who asks, in which chat, under which policy: the context of a run, and the form that Studio shows."""

from dataclasses import dataclass, field, fields
from reprlib import repr as short_repr
from typing import Any, Literal, get_args

from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import Runtime

from cognition.errors import InvalidInput
from cognition.identity import Identity
from cognition.levels import Policy
from cognition.services import Services, process_services

MemoryMode = Literal["on", "off"]


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the caller of a graph says once for the whole run."""

    user_id: str = field(
        default="local", metadata={"description": "Whose memories are read and written. Blank is refused."}
    )
    user_name: str = field(default="", metadata={"description": "How the assistant may call the user."})
    policy: Policy = field(
        default="AUTO_PRO",
        metadata={
            "description": "AUTO starts at LITE and may climb to FLASH, AUTO_PRO up to PRO; "
            "MODEL_LITE, MODEL_FLASH and MODEL_PRO hold one level."
        },
    )
    memory: MemoryMode = field(
        default="on", metadata={"description": "off: this chat neither recalls nor stores memories."}
    )

    def __post_init__(self) -> None:
        """Refuse what no form offers, such as a policy of another spelling.

        Raises:
            InvalidInput: The policy is none of the policies, or the memory neither on nor off.
        """
        for name, value, allowed in (
            ("policy", self.policy, get_args(Policy)),
            ("memory", self.memory, get_args(MemoryMode)),
        ):
            if value not in allowed:
                msg = f"The context's {name} {short_repr(value)} is none: give one of {', '.join(allowed)}."
                raise InvalidInput(msg)

    def services(self) -> Services:
        """The stores and models of this process."""
        return process_services()


@dataclass(frozen=True, kw_only=True)
class BoundContext(Context):
    """A context with services of its own: for programs that embed the graphs, and for tests."""

    bound: Services
    chat_id: str = ""
    """The chat whose data the run works on; empty for the chat that its thread is."""

    def services(self) -> Services:
        """The services that the program passed."""
        return self.bound


Graph = CompiledStateGraph[Any, Context, Any, Any]
"""A compiled graph of this application."""

AnyRuntime = Runtime[Context] | ToolRuntime[Context, Any]
"""What a node or a tool is handed."""


def context_of(runtime: AnyRuntime) -> Context:
    """The run's context; a run without one is the local user's with every default."""
    return runtime.context or Context()


def identity_of(runtime: AnyRuntime) -> Identity:
    """Who this run is for: the authenticated user where the server has one, else the context's.

    Raises:
        InvalidInput: The user is blank. A missing user is nobody, never everybody.
    """
    info, server, context = runtime.execution_info, runtime.server_info, context_of(runtime)
    user_id = server.user.identity if server and server.user else context.user_id
    if not isinstance(user_id, str) or not user_id.strip():
        msg = f"The user {user_id!r} is blank or no text: pass a user_id, or no context for the local user."
        raise InvalidInput(msg)
    if isinstance(context, BoundContext) and context.chat_id:
        return Identity(user_id, context.chat_id)
    chat_id = (info.thread_id or info.run_id or "") if info else ""
    return Identity(user_id, chat_id)


def for_sub_agent(runtime: AnyRuntime) -> BoundContext:
    """The context of a run that a run starts: the same user, chat, policy and services."""
    context, identity = context_of(runtime), identity_of(runtime)
    told = {each.name: getattr(context, each.name) for each in fields(Context)}
    return BoundContext(
        **{**told, "user_id": identity.user_id}, bound=context.services(), chat_id=identity.chat_id
    )
