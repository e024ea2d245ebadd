"""Adapters that turn functions into LangGraph nodes and conditional edges."""

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any

from langgraph._internal._runnable import RunnableCallable

from cognition.concurrency.event_loop import P, T, wait_for


def as_node(function: Callable[..., Coroutine[Any, Any, T]], **arguments: Any) -> RunnableCallable:
    """Return a graph node from an async function. With `.invoke`, it runs on the background event loop.

    Args:
        function: The step.
        arguments: Keyword arguments to bind to the function, such as a subgraph.
    """
    bound = partial(function, **arguments) if arguments else function

    @wraps(function)
    def blocking(*args: Any, **kwargs: Any) -> T:
        return wait_for(bound(*args, **kwargs))

    return RunnableCallable(blocking, bound, name=function.__name__, trace=False)


def as_edge(function: Callable[P, T]) -> RunnableCallable:
    """Return a conditional edge from a plain function, which LangGraph would otherwise run in a thread."""
    return RunnableCallable(function, name=function.__name__, trace=False)
