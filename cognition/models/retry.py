"""The retry policy of model calls."""

from collections.abc import Callable
from time import monotonic
from typing import Any, Final

import httpx
import httpx2
from langchain_core.exceptions import ModelError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from cognition.levels import Role
from cognition.models.outcome import Malformed

ATTEMPTS: Final = 3
"""Maximum attempts per level before it counts as unavailable."""

Notify = Callable[[dict[str, Any]], None]
"""A receiver of events."""


def attempts(deadline: float, role: Role, notify: Notify) -> AsyncRetrying:
    """Return the attempts of one call; pauses follow the server's `RetryInfo`, or back off exponentially.

    Args:
        deadline: The time to give up, on the monotonic clock.
        role: The role of the model.
        notify: Receives a `retry` event before each new attempt.
    """
    backoff = wait_exponential_jitter(initial=0.5, max=8)

    def wait(state: RetryCallState) -> float:
        return server_delay(_error(state)) or backoff(state)

    def stop(state: RetryCallState) -> bool:
        limit = 2 if isinstance(_error(state), Malformed) else ATTEMPTS
        return state.attempt_number >= limit or monotonic() + state.upcoming_sleep > deadline

    def announce(state: RetryCallState) -> None:
        notify(
            {
                "type": "retry",
                "level": role,
                "attempt": state.attempt_number + 1,
                "reason": str(_error(state)),
            }
        )

    return AsyncRetrying(
        retry=retry_if_exception(is_retryable), wait=wait, stop=stop, before_sleep=announce, reraise=True
    )


def is_retryable(error: BaseException) -> bool:
    """Return True if a retry may succeed: for 429, 5xx, transport errors and malformed answers."""
    if isinstance(error, ModelError):
        return bool(error.is_retryable)
    return isinstance(error, (Malformed, httpx.TransportError, httpx2.TransportError))


def server_delay(error: BaseException | None) -> float | None:
    """Return the delay in seconds that the server requested (Google's `RetryInfo`); None if it gave none."""
    body: Any = getattr(error.__cause__, "details", None) if error else None
    try:
        details = [one for one in body["error"]["details"] if str(one["@type"]).endswith("RetryInfo")]
        delay = float(details[0]["retryDelay"].removesuffix("s"))
    except (TypeError, LookupError, AttributeError, ValueError):
        return None  # proxies use other formats
    return delay if delay >= 0 else None


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
