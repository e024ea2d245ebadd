"""The client of the chat models: takes messages, returns a checked answer or a typed failure.

No module outside this package imports a provider's library.
"""

import asyncio
import gc
import logging
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from threading import Lock
from time import monotonic
from typing import Any, Final, Protocol, cast, get_args, runtime_checkable

import httpx
import httpx2
from langchain_core.exceptions import ContextOverflowError, ModelError, ModelInvalidRequestError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import BaseTool
from tenacity import AsyncRetrying

from cognition.errors import Unavailable
from cognition.levels import Role, lower_levels
from cognition.messages.context_window import TRIMMED_FROM
from cognition.messages.history import STAMP, has_media, prepare_history, strip_signatures, without_media
from cognition.models.gemini import Model, with_tools
from cognition.models.outcome import Answer, Failure, UnusableAnswer, check_answer, is_truncated
from cognition.models.retry import Notify, attempts, is_retryable
from cognition.rehearsal import rehearsal_url
from cognition.settings import Settings
from cognition.text.truncate import shorten

logger = logging.getLogger(__name__)

GEMINI: Final = "google_genai"
"""LangChain's name of the Gemini provider."""

REASON_CHARACTERS: Final = 400
"""Maximum characters of a provider's error message; proxies send whole pages."""

CONVERSION_ERRORS: Final = (ValueError, TypeError, KeyError)
"""The exceptions that clients raise for a content block they can't convert, before they send anything."""


@runtime_checkable
class _Closable(Protocol):
    async def aclose(self) -> None: ...


class ModelMissing(Unavailable):
    """A configured model can't be created. The message says what is missing."""


class Models:
    """The chat models of a process, each created at its first call."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._chats: dict[tuple[str, bool], BaseChatModel] = {}
        self._bound: dict[tuple[object, ...], tuple[Sequence[BaseTool], Model]] = {}
        self._building = Lock()

    @property
    def rehearsed(self) -> bool:
        """True if the rehearsal server stands in for any model, because the provider's key is not set."""
        return any(self.rehearses(role) for role in get_args(Role))

    def rehearses(self, role: Role) -> bool:
        """Return True if the rehearsal server stands in for the model of a role."""
        return self.settings.google_api_key is None and self.name(role).startswith(GEMINI)

    def reads(self, role: Role, medium: str) -> bool:
        """Return True if the model of a role accepts `image`, `audio` or `video` input. Blocking."""
        return bool((self.chat(role).profile or {}).get(f"{medium}_inputs"))

    @property
    def budget(self) -> int:
        """Maximum tokens of the conversation in a prompt; the oldest turns beyond it are not sent."""
        return int(self.settings.context_tokens * TRIMMED_FROM)

    def name(self, role: Role) -> str:
        """Return the `provider:model` of a role."""
        match role:
            case "MODEL_LITE":
                return self.settings.model_lite
            case "MODEL_FLASH":
                return self.settings.model_flash
            case "MODEL_PRO":
                return self.settings.model_pro
            case "MODEL_DISTILLATION":
                return self.settings.model_distillation or self.settings.model_lite

    async def call(
        self,
        role: Role,
        messages: Sequence[AnyMessage],
        *,
        tools: Sequence[BaseTool] = (),
        fall_back: bool = False,
        seconds: float | None = None,
        notify: Notify = lambda event: None,
    ) -> Answer | Failure:
        """Call the model of a role, with retries, a time limit and fall-backs.

        Args:
            role: The role.
            messages: System messages and the thread, oldest first; `prepare_history` selects what to send.
            tools: The tools that the model may call.
            fall_back: True to fall back to lower levels if this one is unavailable after its retries.
            seconds: Seconds left for the call; the limit in the settings applies too.
            notify: Receives a `retry` event before each new attempt, so that clients discard the streamed
                text, and a `fallback` event before each fall-back.
        """
        started = monotonic()
        roles: list[Role] = [role]
        if fall_back and role != "MODEL_DISTILLATION":
            roles += lower_levels(role)
        unavailable: list[str] = []
        calls = 0
        left = float("inf") if seconds is None else seconds
        for candidate in roles:
            limit = min(self.settings.call_seconds, left - (monotonic() - started))
            trying = attempts(monotonic() + limit, candidate, notify)
            outcome = await self._call_one(candidate, messages, tools, limit, trying)
            calls += trying.statistics.get("attempt_number", 0) if limit > 0 else 0
            if isinstance(outcome, Answer) or outcome.kind != "unavailable":
                break
            unavailable.append(outcome.model)
            if candidate == roles[-1] or monotonic() - started >= left:
                break
            notify({"type": "fallback", "model": outcome.model, "reason": outcome.sentence})
        if isinstance(outcome, Answer):
            outcome = replace(outcome, fallbacks=tuple(unavailable))
        return replace(outcome, seconds=monotonic() - started, calls=calls)

    async def _call_one(
        self,
        role: Role,
        messages: Sequence[AnyMessage],
        tools: Sequence[BaseTool],
        limit: float,
        trying: AsyncRetrying,
    ) -> Answer | Failure:
        model = self.name(role)
        sent = prepare_history(messages, model, self.budget)
        try:
            async with asyncio.timeout(limit):
                runnable = await self._runnable(role, tools)
                async for attempt in trying:
                    with attempt:
                        answer = check_answer(await _ask(runnable, sent))
        except UnusableAnswer as error:
            return Failure(error.kind, str(error), role, model)
        except TimeoutError:
            reason = (
                f"{model} took more than {limit:.0f} seconds."
                if limit > 0
                else f"No time was left to call {model}."
            )
            return Failure("unavailable", reason, role, model)
        except (ModelError, httpx.TransportError, httpx2.TransportError) as error:
            return _failure(error, role, model)
        except ModelMissing as error:
            return Failure("refused", str(error), role, model)
        except Exception as error:  # clients let the exceptions of their parsers through
            logger.exception("can't parse the answer of %s", model)
            reason = shorten(f"{type(error).__name__}: {error}", REASON_CHARACTERS)
            return Failure("unavailable", f"{model} returned an invalid response ({reason}).", role, model)
        return Answer(_stamped(answer, role, model), role, model, 0.0)

    async def aclose(self) -> None:
        """Close the connections of the models."""
        for chat in self._chats.values():
            if isinstance(chat, _Closable):
                await chat.aclose()

    def chat(self, role: Role) -> BaseChatModel:
        """Return the chat model of a role without tools; create it at the first call. Blocking.

        Raises:
            ModelMissing: If the provider is unknown, not installed or lacks its API key.
        """
        name, distils = key = (self.name(role), role == "MODEL_DISTILLATION")
        with self._building:
            if key not in self._chats:
                try:
                    self._chats[key] = self._build(name, distils)
                except (ImportError, ValueError) as error:
                    raise ModelMissing(f"The model {name!r} can't be used: {error}") from error
            return self._chats[key]

    def build_all(self) -> None:
        """Create the models of all roles, so that invalid settings fail at startup. Blocking.

        Raises:
            ModelMissing: If a model can't be created.
        """
        for role in get_args(Role):
            self.chat(role)

    async def _runnable(self, role: Role, tools: Sequence[BaseTool]) -> Model:
        """Return the model of a role with tools bound; cached, so that schemas are converted only once."""
        key = (self.name(role), role == "MODEL_DISTILLATION", *map(id, tools))
        if key not in self._bound:
            chat = await asyncio.to_thread(self.chat, role)
            # Keeps the tools alive, so that no other object can get their ids, which are part of the key.
            self._bound[key] = tools, with_tools(chat, tools)
        return self._bound[key][1]

    def _build(self, name: str, distils: bool) -> BaseChatModel:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415  # takes a second to import

        provider, _, model = name.partition(":")
        # Some models ignore the temperature and warn at every call.
        warnings.filterwarnings("ignore", message=".*uses fixed sampling defaults")
        options: dict[str, Any] = {"temperature": 0} if distils else {}
        if provider == GEMINI:
            key = self.settings.google_api_key
            url = self.settings.gemini_url or None
            options |= {
                "api_version": "v1beta",  # v1 rejects tools for older models and serves no preview models
                "max_retries": 1,  # one attempt; `call` retries
                "include_thoughts": False,
                "base_url": url if key else rehearsal_url(),
                "google_api_key": key.get_secret_value() if key else "rehearsal",
            }
        chat = cast("BaseChatModel", init_chat_model(model, model_provider=provider, **options))
        freeze_gc()
        return chat


async def _ask(runnable: Model, sent: list[AnyMessage]) -> AIMessage:
    """Make one attempt, and another without signatures or media if the model rejects them.

    Otherwise a single broken image would block its thread forever.
    """
    try:
        return await runnable.ainvoke(sent)
    except (ModelInvalidRequestError, *CONVERSION_ERRORS) as error:
        if isinstance(error, ModelInvalidRequestError) and _is_about_signatures(error):
            return await runnable.ainvoke([strip_signatures(m) for m in sent])
        if not any(map(has_media, sent)):
            raise
        return await runnable.ainvoke([without_media(m) for m in sent])


def _is_about_signatures(error: ModelInvalidRequestError) -> bool:
    return "thought signature" in str(error).lower() or "thought_signature" in str(error).lower()


def _failure(error: Exception, role: Role, model: str) -> Failure:
    if isinstance(error, ContextOverflowError):
        return Failure("refused", f"The conversation is too long for {model}. Start a new chat.", role, model)
    text = str(getattr(error.__cause__, "message", "") or error).strip() or type(error).__name__
    reason = shorten(text, REASON_CHARACTERS)
    if is_retryable(error):
        return Failure("unavailable", f"{model} is unavailable: {reason}", role, model)
    return Failure("refused", f"{model} rejected the request: {reason}", role, model)


def _stamped(message: AIMessage, role: Role, model: str) -> AIMessage:
    stamp: dict[str, Any] = {"level": role, "model": model}
    if is_truncated(message):
        stamp["truncated"] = True
    return message.model_copy(update={"response_metadata": {**message.response_metadata, STAMP: stamp}})


@cache
def freeze_gc() -> None:
    """Exclude all existing objects from garbage collection; once per process, after its imports.

    Otherwise each full collection visits 200,000 objects, which takes a sixth of the CPU time of a process
    that makes many model calls. Blocks for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
