"""The one seam to the language models: messages in, a checked answer or a typed failure out.

Nothing else in the project names a provider.
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
REASON_CHARACTERS: Final = 400
"""Of what a provider says of a failure: proxies send whole pages."""

UNREADABLE: Final = (ValueError, TypeError, KeyError)
"""What clients raise at a content block that they can't translate, before they send anything."""


@runtime_checkable
class _Closable(Protocol):
    async def aclose(self) -> None: ...


class ModelMissing(Unavailable):
    """A model that the settings name can't be built; the message says what is missing."""


class Models:
    """The chat models of a process, each built at its first call."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._chats: dict[tuple[str, bool], BaseChatModel] = {}
        self._bound: dict[tuple[object, ...], tuple[Sequence[BaseTool], Model]] = {}
        self._building = Lock()

    @property
    def rehearsed(self) -> bool:
        """Whether the models are played by the rehearsal, for want of the provider's key."""
        return any(self.rehearses(role) for role in get_args(Role))

    def rehearses(self, role: Role) -> bool:
        """Whether the model of one role is played."""
        return self.settings.google_api_key is None and self.name(role).startswith(GEMINI)

    def reads(self, role: Role, medium: str) -> bool:
        """Whether the model of a role can look at `image`, `audio` or `video`; blocking."""
        return bool((self.chat(role).profile or {}).get(f"{medium}_inputs"))

    @property
    def budget(self) -> int:
        """Tokens that a conversation takes of a prompt at most; its oldest turns beyond it are not sent."""
        return int(self.settings.context_tokens * TRIMMED_FROM)

    def name(self, role: Role) -> str:
        """The `provider:model` behind a role."""
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
        """Ask the model of a role, with retries, time limit and fall-back.

        Args:
            role: Whose model answers.
            messages: System messages and the thread, oldest first; what may be sent of it is decided here.
            tools: What the model may call.
            fall_back: Whether lower levels stand in when this one is down after its retries.
            seconds: Time left for the call, if less than the limit of the settings.
            notify: Gets a `retry` event before each new attempt, so that clients drop what was streamed,
                and a `fallback` event before another level's.
        """
        started = monotonic()
        roles: list[Role] = [role]
        if fall_back and role != "MODEL_DISTILLATION":
            roles += lower_levels(role)
        down: list[str] = []
        calls = 0
        left = float("inf") if seconds is None else seconds
        for candidate in roles:
            limit = min(self.settings.call_seconds, left - (monotonic() - started))
            trying = attempts(monotonic() + limit, candidate, notify)
            outcome = await self._call_one(candidate, messages, tools, limit, trying)
            calls += trying.statistics.get("attempt_number", 0) if limit > 0 else 0
            if isinstance(outcome, Answer) or outcome.kind != "unavailable":
                break
            down.append(outcome.model)
            if candidate == roles[-1] or monotonic() - started >= left:
                break
            notify({"type": "fallback", "model": outcome.model, "reason": outcome.sentence})
        if isinstance(outcome, Answer):
            outcome = replace(outcome, fallbacks=tuple(down))
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
            told = (
                f"{model} took more than {limit:.0f} seconds."
                if limit > 0
                else f"No time is left for {model}."
            )
            return Failure("unavailable", told, role, model)
        except (ModelError, httpx.TransportError, httpx2.TransportError) as error:
            return _failure(error, role, model)
        except ModelMissing as error:
            return Failure("refused", str(error), role, model)
        except Exception as error:  # at an answer that is none, a client raises whatever its parsers do
            logger.exception("the answer of %s can't be read", model)
            told = shorten(f"{type(error).__name__}: {error}", REASON_CHARACTERS)
            return Failure("unavailable", f"{model} answered what can't be read ({told}).", role, model)
        return Answer(_stamped(answer, role, model), role, model, 0.0)

    async def aclose(self) -> None:
        """Close the connections of the models that have some."""
        for chat in self._chats.values():
            if isinstance(chat, _Closable):
                await chat.aclose()

    def chat(self, role: Role) -> BaseChatModel:
        """The bare chat model of a role, built at the first call; blocking.

        Raises:
            ModelMissing: Its provider is unknown, not installed or without its key.
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
        """Build the model of every role, so that one that can't be used is refused at the start; blocking.

        Raises:
            ModelMissing: One can't be built.
        """
        for role in get_args(Role):
            self.chat(role)

    async def _runnable(self, role: Role, tools: Sequence[BaseTool]) -> Model:
        """The role's model with its tools bound; their schemas are translated once and not at every call."""
        key = (self.name(role), role == "MODEL_DISTILLATION", *map(id, tools))
        if key not in self._bound:
            chat = await asyncio.to_thread(self.chat, role)
            # The tools are kept beside the model, so that no other object takes their identity.
            self._bound[key] = tools, with_tools(chat, tools)
        return self._bound[key][1]

    def _build(self, name: str, distils: bool) -> BaseChatModel:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415  # a second of imports, at the first call

        provider, _, model = name.partition(":")
        # Some models take no temperature, and warn at every call.
        warnings.filterwarnings("ignore", message=".*uses fixed sampling defaults")
        options: dict[str, Any] = {"temperature": 0} if distils else {}
        if provider == GEMINI:
            key = self.settings.google_api_key
            url = self.settings.gemini_url or None
            options |= {
                "api_version": "v1beta",  # v1 refuses tools on older models and preview models altogether
                "max_retries": 1,  # one attempt: the retries are ours
                "include_thoughts": False,
                "base_url": url if key else rehearsal_url(),
                "google_api_key": key.get_secret_value() if key else "rehearsal",
            }
        chat = cast("BaseChatModel", init_chat_model(model, model_provider=provider, **options))
        freeze_gc()
        return chat


async def _ask(runnable: Model, sent: list[AnyMessage]) -> AIMessage:
    """One attempt, and another with less where the signatures or the media can't be taken.

    Else one picture that is broken would keep its whole thread from ever being answered again.
    """
    try:
        return await runnable.ainvoke(sent)
    except (ModelInvalidRequestError, *UNREADABLE) as error:
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
    told = str(getattr(error.__cause__, "message", "") or error).strip() or type(error).__name__
    reason = shorten(told, REASON_CHARACTERS)
    if is_retryable(error):
        return Failure("unavailable", f"{model} can't be reached: {reason}", role, model)
    return Failure("refused", f"{model} refused the request: {reason}", role, model)


def _stamped(message: AIMessage, role: Role, model: str) -> AIMessage:
    stamp: dict[str, Any] = {"level": role, "model": model}
    if is_truncated(message):
        stamp["truncated"] = True
    return message.model_copy(update={"response_metadata": {**message.response_metadata, STAMP: stamp}})


@cache
def freeze_gc() -> None:
    """Keep all that exists now out of later collections; once in a process, when its imports are done.

    Two hundred thousand objects are walked at each full collection otherwise, a sixth of the CPU of a process
    that makes many model calls. Blocks for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
