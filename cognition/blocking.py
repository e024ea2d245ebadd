"""Steps and routers as graphs take them: on the event loop, and with `.invoke` on one of their own."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cache, partial, wraps
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from langgraph._internal._runnable import (
    RunnableCallable,
)  # as langchain.agents does: no public name takes both

P = ParamSpec("P")
T = TypeVar("T")


def step(function: Callable[..., Coroutine[Any, Any, T]], **given: Any) -> RunnableCallable:
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


def router(function: Callable[P, T]) -> RunnableCallable:
    """A conditional edge from a plain function, which LangGraph would run in a thread at every step."""
    return RunnableCallable(function, name=function.__name__, trace=False)


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop that blocking steps run on; what they opened is closed there too."""
    return asyncio.run_coroutine_threadsafe(coroutine, background_loop()).result()


@cache
def background_loop() -> asyncio.AbstractEventLoop:
    """One loop for the whole process: clients keep a connection pool per loop."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="cognition-steps", daemon=True).start()
    return loop
