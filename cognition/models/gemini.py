"""Declaration of tools for Gemini."""

from collections.abc import Sequence
from typing import Any, Self

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

Model = Runnable[LanguageModelInput, AIMessage]


def with_tools(chat: BaseChatModel, tools: Sequence[BaseTool]) -> Model:
    """Bind tools to a model, with Gemini's own declarations if it is Gemini."""
    from langchain_google_genai import ChatGoogleGenerativeAI  # noqa: PLC0415  # imported with the first model

    if not tools:
        return chat
    if isinstance(chat, ChatGoogleGenerativeAI):
        return chat.bind(tools=[declarations(tools)])
    return chat.bind_tools(tools)


def declarations(tools: Sequence[BaseTool]) -> Any:
    """Return the tools as Gemini's function declarations.

    With `bind_tools`, the client would convert the tools at every call and deep-copy the result before it
    sends them, which takes a fifth of a short turn. Nothing modifies this object, so it is its own copy.
    """
    from google.genai.types import Tool  # noqa: PLC0415  # imported with the first model
    from langchain_google_genai._function_utils import (  # noqa: PLC0415
        convert_to_genai_function_declarations,
    )

    class Declared(Tool):
        def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
            return self

    (translated,) = convert_to_genai_function_declarations([convert_to_openai_tool(tool) for tool in tools])
    return Declared.model_construct(**dict(translated))
