"""Async functions as LangGraph nodes and edges."""

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any

from langgraph._internal._runnable import RunnableCallable

from cognition.concurrency.event_loop import P, T, wait_for


def as_node(function: Callable[..., Coroutine[Any, Any, T]], **given: Any) -> RunnableCallable:
    """A node from an asynchronous function: `.ainvoke` runs it as it is, `.invoke` on a loop of its own.

    Args:
        function: The step.
        given: What the wiring hands to it beside the state, such as another graph.
    """
    bound = partial(function, **given) if given else function

    @wraps(function)
    def blocking(*args: Any, **kwargs: Any) -> T:
        return wait_for(bound(*args, **kwargs))

    return RunnableCallable(blocking, bound, name=function.__name__, trace=False)


def as_edge(function: Callable[P, T]) -> RunnableCallable:
    """A conditional edge from a plain function, which LangGraph would run in a thread at every step."""
    return RunnableCallable(function, name=function.__name__, trace=False)
