"""Who asks, in which chat, under which policy: the context of a run, and the form that Studio shows."""

from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import Runtime

from cognition.levels import Policy
from cognition.services import Services, process_services


@dataclass(frozen=True)
class Identity:
    """Whose data a step may touch. It comes from the run, never from a model."""

    user_id: str
    chat_id: str


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
    memory: Literal["on", "off"] = field(
        default="on", metadata={"description": "off: this chat neither recalls nor stores memories."}
    )

    def services(self) -> Services:
        """The stores and models of this process."""
        return process_services()


@dataclass(frozen=True, kw_only=True)
class BoundContext(Context):
    """A context with services of its own: for programs that embed the graphs, and for tests."""

    bound: Services

    def services(self) -> Services:
        """The services that the program passed."""
        return self.bound


AnyRuntime = Runtime[Context] | ToolRuntime[Context, Any]
"""What a node or a tool is handed."""


def context_of(runtime: AnyRuntime) -> Context:
    """The run's context; a run without one is the local user's with every default."""
    return runtime.context or Context()


def identity_of(runtime: AnyRuntime) -> Identity:
    """Who this run is for: the authenticated user where the server has one, else the context's.

    Raises:
        ValueError: The user is blank. A missing user is nobody, never everybody.
    """
    info, server = runtime.execution_info, runtime.server_info
    user_id = server.user.identity if server and server.user else context_of(runtime).user_id
    if not isinstance(user_id, str) or not user_id.strip():
        msg = f"The user {user_id!r} is blank: pass the context's user_id, or no context for the local user."
        raise ValueError(msg)
    chat_id = (info.thread_id or info.run_id or "") if info else ""
    return Identity(user_id, chat_id)
