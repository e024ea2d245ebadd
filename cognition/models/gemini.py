"""Tools as Gemini takes them."""

from collections.abc import Sequence
from typing import Any, Self

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

Model = Runnable[LanguageModelInput, AIMessage]


def with_tools(chat: BaseChatModel, tools: Sequence[BaseTool]) -> Model:
    """Return a model with tools, declared as Gemini accepts them if it is Gemini."""
    from langchain_google_genai import ChatGoogleGenerativeAI  # noqa: PLC0415  # loaded with the first model

    if not tools:
        return chat
    if isinstance(chat, ChatGoogleGenerativeAI):
        return chat.bind(tools=[declarations(tools)])
    return chat.bind_tools(tools)


def declarations(tools: Sequence[BaseTool]) -> Any:
    """The tools as Gemini takes them, translated once.

    What `bind_tools` binds is translated anew at every call, and what is translated is copied to its last
    field before it is sent: a fifth of a short turn. Nothing changes this object, so it is its own copy.
    """
    from google.genai.types import Tool  # noqa: PLC0415  # loaded with the first model
    from langchain_google_genai._function_utils import (  # noqa: PLC0415
        convert_to_genai_function_declarations,
    )

    class Declared(Tool):
        def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
            return self

    (translated,) = convert_to_genai_function_declarations([convert_to_openai_tool(tool) for tool in tools])
    return Declared.model_construct(**dict(translated))
