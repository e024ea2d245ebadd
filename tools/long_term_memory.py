"""The tools for long-term memory: store, search and delete facts."""

import asyncio
from collections.abc import Sequence
from html import escape
from reprlib import repr as short_repr
from typing import Annotated, Any, Final

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from pydantic import WithJsonSchema

from cognition.context import Context, context_of, identity_of
from cognition.dates import InvalidDate, read_period
from cognition.errors import InvalidInput
from cognition.memory.long_term.distillation import DISTILLED
from cognition.memory.long_term.fusion import FusionOutcome
from cognition.memory.long_term.labels import artifact_label, importance_label
from cognition.memory.long_term.memory import Memory
from cognition.memory.long_term.recall import Index, Recalled
from cognition.memory.long_term.store import LongTermMemory
from cognition.memory.long_term.writer import WriteResult
from cognition.prompts.echo import memory_line
from cognition.state.echo import EchoState
from cognition.text.blocks import DATA, block
from cognition.text.language import InterfaceLanguage, interface_language

Runtime = ToolRuntime[Context, EchoState]

MOST_RESULTS: Final = 100
MOST_COUNTS: Final = 30
"""Maximum number of artifacts and themes in the counts of an index, most frequent first."""

OFF: Final = "Long-term memory is off in this chat: nothing is searched or stored. Answer without it."

SHOWN: Final = "shown"
"""The key in a search result's artifact that holds the ids of the returned memories."""

AnyNumber = Annotated[object, WithJsonSchema({"type": "integer"})]
"""Declared as an integer and not converted: pydantic would turn "3" into 3 and true into 1."""

Result = tuple[str, dict[str, Any]]
"""The text for the model, and the artifact stored with the tool message."""

DONE: Final[dict[FusionOutcome, str]] = {
    "new": "Remembered as",
    "refreshed": "Already known; confirmed:",
    "replaced": "Updated, with the older text kept:",
    "merged": "Merged with what was known:",
    "known": "Nothing to do: you just read this fact in memory, as",
}


@tool(parse_docstring=True, response_format="content_and_artifact")
async def update_meta_artifact(
    artifact_name: str,
    fact: str,
    runtime: Runtime,
    importance: AnyNumber = 3,
) -> Result:
    """Store one fact in long-term memory, which is shared by all conversations.

    Call it when the user tells you something that will still matter in another conversation: a preference, a
    fact about their life or work, a correction of what you know, or a standing request; or when you learn how
    to help them better. Store one fact per call, in the user's words and language, self-contained. A fact
    about a known subject updates it. Don't store things that matter only now, secrets, or facts that memory
    already holds.

    Args:
        artifact_name: The kind of fact: "Profil d'Alignement" for the user's preferences and facts,
            "Hypothèses d'Apprentissage" for your own lessons, or another short name for a topic.
        fact: The fact in one or two sentences, at most 1,500 characters.
        importance: 1 trivial, 2 minor, 3 useful, 4 major, 5 axiom: always holds, only if the user says so.
        runtime: Injected by the graph.
    """
    if _is_off(runtime):
        return OFF, {}
    memory = await _memory(runtime)
    identity = identity_of(runtime)
    messages = runtime.state["messages"]
    try:
        written = await memory.write(
            identity.user_id,
            identity.chat_id,
            artifact_name,
            fact,
            importance,
            messages=messages,
            shown=_shown(messages),
        )
    except InvalidInput as error:
        return f"Error: {error}", {}
    if written.outcome != "known":
        _emit(runtime, written.outcome, written.memory.memory_id)
    return _write_text(written, await _language(runtime)), {DISTILLED: written.distilled}


@tool(parse_docstring=True, response_format="content_and_artifact")
async def search_meta_artifacts(
    runtime: Runtime,
    query: str = "",
    artifact_name: str = "",
    limit: int = 20,
    start_date: str = "",
    end_date: str = "",
) -> Result:
    """Search long-term memory, or list it.

    With a query it returns the best matches first; without one, an index of all memories, newest first. Call
    it when the memories below the newest message are not enough.

    Args:
        query: A question or keywords; empty to list.
        artifact_name: Only memories of this kind; empty for all.
        limit: Maximum number of memories, 1 to 100.
        start_date: Only memories from this date on, such as 2024, 2024-05 or 2024-05-17; empty for all.
        end_date: Only memories up to this date, inclusive, in the same formats; empty for all.
        runtime: Injected by the graph.
    """
    if _is_off(runtime):
        return OFF, {}
    user_id = identity_of(runtime).user_id
    try:
        period = read_period(start_date, end_date)
    except InvalidDate as error:
        return f"Error: {error}", {}
    limit = min(max(limit, 1), MOST_RESULTS)
    memory, language = await _memory(runtime), await _language(runtime)
    if not query.strip():
        index = await memory.index(user_id, artifact_name=artifact_name, limit=limit, period=period)
        narrowed = bool(artifact_name.strip() or start_date.strip() or end_date.strip())
        return _index_text(index, language, narrowed=narrowed), {
            SHOWN: [listed.memory_id for listed in index.memories]
        }
    hits = await memory.search(user_id, query, artifact_name=artifact_name, limit=limit, period=period)
    await memory.note_recall(user_id, hits)
    return _search_text(query, hits, language), {SHOWN: [recalled.memory.memory_id for recalled in hits]}


@tool(parse_docstring=True)
async def delete_meta_artifact_item(memory_id: str, runtime: Runtime) -> str:
    """Delete one memory permanently. Call it when the user asks you to forget something.

    Args:
        memory_id: The memory's id, as a search shows it.
        runtime: Injected by the graph.
    """
    if _is_off(runtime):
        return OFF
    memory_id = memory_id.strip()
    deleted = await (await _memory(runtime)).delete(identity_of(runtime).user_id, memory_id)
    if deleted.found:
        _emit(runtime, "deleted", memory_id)
        return f"Deleted permanently: {memory_id!r}."
    near = f" The nearest ids are: {', '.join(deleted.nearest)}." if deleted.nearest else ""
    return f"Nothing was deleted: no memory has the id {_quoted(memory_id)}.{near} Search to see the ids."


async def _language(runtime: Runtime) -> InterfaceLanguage:
    """Return the language of the user's newest message."""
    texts = (
        message.text for message in reversed(runtime.state["messages"]) if isinstance(message, HumanMessage)
    )
    return await asyncio.to_thread(interface_language, next(texts, ""))


async def _memory(runtime: Runtime) -> LongTermMemory:
    return await context_of(runtime).services().memory()


def _is_off(runtime: Runtime) -> bool:
    return context_of(runtime).memory == "off"


def _emit(runtime: Runtime, action: str, memory_id: str) -> None:
    runtime.stream_writer({"type": "memory", "action": action, "memory_id": memory_id})


def _shown(messages: Sequence[AnyMessage]) -> list[str]:
    """Return the ids of the memories that searches showed in this turn."""
    ids: list[str] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage) and isinstance(message.artifact, dict):
            ids += message.artifact.get(SHOWN, [])
    return ids


def _write_text(written: WriteResult, language: InterfaceLanguage) -> str:
    memory = written.memory
    artifact = escape(artifact_label(memory.artifact_name, language))
    importance = importance_label(memory.memory_importance, language)
    head = f"{DONE[written.outcome]} {memory.memory_id!r} ({artifact}, {importance})."
    return " ".join(filter(None, [head, written.note, block("memory", memory.fact, note=DATA)]))


def _search_text(query: str, hits: Sequence[Recalled], language: InterfaceLanguage) -> str:
    if not hits:
        return f"No memory answers {_quoted(query)}. Ask the user, or search with other words."
    lines = "\n".join(memory_line(recalled.memory, language, recalled.score) for recalled in hits)
    return block("memories", lines, note=DATA)


def _index_text(index: Index, language: InterfaceLanguage, *, narrowed: bool) -> str:
    if not index.total:
        if narrowed:
            return "No memory has this kind and period. List without artifact_name and dates to see all."
        return "Nothing has been stored yet."
    rest = ""
    if more := index.total - len(index.memories):
        oldest = index.memories[-1].updated_on
        rest = f" Not shown: {more} older. Raise the limit, list with end_date {oldest}, or search."
    artifacts = {artifact_label(name, language): count for name, count in index.artifacts.items()}
    lines = [
        f"By artifact: {_counts(artifacts)}.",
        *([f"By theme: {_counts(index.tags)}."] if index.tags else []),
        *(f"{memory_line(memory, language)}{_tags(memory)}" for memory in index.memories),
    ]
    listed = block("memories", "\n".join(lines), note=DATA)
    many = "1 memory" if index.total == 1 else f"{index.total} memories, newest first"
    return f"{many}.{rest}\n{listed}"


def _tags(memory: Memory) -> str:
    return f" (themes: {', '.join(memory.tags)})" if memory.tags else ""


def _counts(counts: dict[str, int]) -> str:
    named = [f"{name} {count}" for name, count in list(counts.items())[:MOST_COUNTS]]
    return ", ".join([*named, *(["…"] if len(counts) > MOST_COUNTS else [])])


def _quoted(text: str) -> str:
    """Return a value from the model for use in a sentence: escaped and shortened."""
    return escape(short_repr(text), quote=False)
