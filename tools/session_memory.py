"""The tools for session memory: save long texts, search passages, delete sources."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Final

from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from cognition.context import Context, context_of, identity_of
from cognition.dates import read_period
from cognition.errors import InvalidInput
from cognition.memory.session.catalog import Listing, Source
from cognition.memory.session.passages import Passage, SearchResult
from cognition.memory.session.store import MAX_TOKENS, SessionMemory
from cognition.memory.validation import LONGEST_ID
from cognition.storage.resources import Changes, Resource
from cognition.text.blocks import DATA, block
from cognition.text.plural import pluralize
from cognition.text.tokens import estimate_tokens

Runtime = ToolRuntime[Context, Any]

MOST_RESULTS: Final = 100
LONGEST_NAME: Final = 100
NOT_INDEXED: Final = Changes(
    status="INDEXED",
    chunks=0,
    error="Its search index was deleted. Add the file again to make it searchable.",
)
"""Changes to a file's resource when its passages are deleted."""
MANY: Final = 10
"""Maximum number of sources named in the note on unfinished indexing."""


@tool(parse_docstring=True)
async def save_session_context(text: str, source_id: str, runtime: Runtime) -> str:
    """Save a long text for this conversation, to search it instead of keeping it in the context.

    Call it with an intermediate result, a draft, notes or a document that you will need again and that takes
    up too much of the context. Saving under an existing source_id replaces the whole text. The text is
    deleted when the session ends.

    Args:
        text: The whole text.
        source_id: A short name of your choice, such as "interview_notes".
        runtime: Injected by the graph.
    """
    identity = identity_of(runtime)
    if await _file_of(source_id, runtime):
        return f"Error: {_quoted(source_id)} is a file of this conversation: choose another source_id."
    try:
        saved = await (await _session(runtime)).save(identity.user_id, identity.chat_id, source_id, text)
    except InvalidInput as error:
        return f"Error: {_message(error)}"
    id_ = _quoted(saved.source_id)
    done = {"new": "Saved", "replaced": "Saved, replacing the older text", "unchanged": "Already saved"}
    chunks = pluralize(saved.chunks, "chunk")
    waiting = " Embeddings are added in the background." if saved.state == "INDEXING" else ""
    return (
        f"{done[saved.outcome]}: {id_}, {chunks}.{waiting} "
        f"`search_sessions_context` with source_id={id_} and a query finds its passages."
    )


@tool(parse_docstring=True)
async def search_sessions_context(
    runtime: Runtime,
    query: str = "",
    source_id: str = "",
    global_search: bool = False,
    limit: int = 20,
    start_date: str = "",
    end_date: str = "",
) -> str:
    """Search the files, saved texts and earlier turns of this conversation, or list them.

    With a query it returns the best passages first; without one, the map of sources, newest first. Earlier
    turns that have left the context are in the source "conversation_history".

    Args:
        query: A question or keywords; empty for the map.
        source_id: Only this source; empty for all.
        global_search: Search all conversations of this user instead of this one.
        limit: Maximum number of results, 1 to 100.
        start_date: Only texts from this date on, such as 2024-05; empty for all.
        end_date: Only texts up to this date, inclusive; empty for all.
        runtime: Injected by the graph.
    """
    identity = identity_of(runtime)
    session = await _session(runtime)
    session_key = (identity.user_id, identity.chat_id)
    try:
        filters: dict[str, Any] = {
            "source_id": source_id.strip(),
            "everywhere": global_search,
            "limit": min(max(limit, 1), MOST_RESULTS),
            "period": read_period(start_date, end_date),
        }
        if query.strip():
            return _search_text(
                query, await session.search(*session_key, query, **filters), everywhere=global_search
            )
        listing = await session.sources(*session_key, **filters)
        return _sources_text(
            listing, everywhere=global_search, dated=bool(start_date.strip() or end_date.strip())
        )
    except InvalidInput as error:
        return f"Error: {_message(error)}"


@tool(parse_docstring=True)
async def delete_session_context_source(source_id: str, runtime: Runtime) -> str:
    """Delete a source of this conversation permanently: a saved text, or a file's index.

    Args:
        source_id: The source's id, as the map of sources shows it.
        runtime: Injected by the graph.
    """
    identity = identity_of(runtime)
    source_id = source_id.strip()
    try:
        chunks = await (await _session(runtime)).delete(identity.user_id, identity.chat_id, source_id)
    except InvalidInput as error:
        listed = "`search_sessions_context` without a query lists the sources of this conversation."
        return f"Error: nothing was deleted. {_message(error)} {listed}"
    if file := await _file_of(source_id, runtime):  # the prompt would still advise to search it
        registry = await context_of(runtime).services().registry()
        await asyncio.to_thread(registry.update, file.user_id, file.id, **NOT_INDEXED)
    return f"Deleted permanently: {_quoted(source_id)}, {pluralize(chunks, 'chunk')}."


async def _file_of(source_id: str, runtime: Runtime) -> Resource | None:
    """Return the file of this chat whose text has this source id."""
    identity = identity_of(runtime)
    registry = await context_of(runtime).services().registry()
    file = await asyncio.to_thread(registry.get, identity.user_id, source_id.strip())
    return file if file and file.chat_id == identity.chat_id else None


async def _session(runtime: Runtime) -> SessionMemory:
    return await context_of(runtime).services().session()


def _search_text(query: str, result: SearchResult, *, everywhere: bool) -> str:
    note = _indexing(result.indexing)
    if not result.passages:
        nothing = (
            f"Nothing found for {_quoted(query)}. Use other words or no dates, or omit the query to list the "
            "sources."
        )
        return f"{nothing if result.sources else _no_sources(everywhere=everywhere)}{note}"
    shown = "\n".join(_passage(passage, everywhere=everywhere) for passage in result.passages)
    rest = f" Not shown for length: {pluralize(result.omitted, 'chunk')}." if result.omitted else ""
    return f"{pluralize(len(result.passages), 'passage')}, best first.{rest}{note}\n{shown}"


def _passage(passage: Passage, *, everywhere: bool) -> str:
    first, last = passage.lines
    chat = {"chat_id": passage.first.chat_id} if everywhere else {}
    path = {"headings": passage.path} if passage.path else {}
    return block(
        "passage",
        passage.text,
        source_id=passage.first.source_id,
        **chat,
        **path,
        lines=f"{first}-{last}",
        time=_moment(passage.first.created_at),
        score=f"{passage.score:.2f}",
        note=DATA,
    )


def _sources_text(listing: Listing, *, everywhere: bool, dated: bool) -> str:
    if not listing.total and dated:
        return "No source is from that period. Leave the dates empty to see all."
    if not listing.total:
        return _no_sources(everywhere=everywhere)
    lines: list[str] = []
    left = MAX_TOKENS
    for source in listing.sources:
        line = _line(source, everywhere=everywhere)
        left -= estimate_tokens(escape(line))
        if left < 0:
            break
        lines.append(line)
    more = listing.total - len(lines)
    rest = f" Not shown: {more} older. Raise the limit, or list with end_date." if more else ""
    note = _indexing([source for source in listing.sources if source.state == "INDEXING"])
    count = pluralize(listing.total, "source")
    return f"{count}, newest first.{rest}{note}\n{block('sources', chr(10).join(lines), note=DATA)}"


def _line(source: Source, *, everywhere: bool) -> str:
    """Render a source in one line: id, name, chunks, size, first and last time, tags and preview."""
    times = dict.fromkeys([_moment(source.first_at), _moment(source.last_at)])
    head = [
        source.source_id,
        *([f"chat {source.chat_id}"] if everywhere else []),
        *([_short(source.name)] if source.name else []),
        pluralize(source.chunks, "chunk"),
        pluralize(source.characters, "character"),
        " to ".join(times),
        *([_short(f"tags: {', '.join(source.tags)}")] if source.tags else []),
    ]
    return f"- [{' · '.join(head)}] {source.preview}"


def _no_sources(*, everywhere: bool) -> str:
    if everywhere:
        return "No conversation of this user has anything in session memory yet."
    return "This conversation has nothing in session memory yet."


def _indexing(sources: Sequence[Source]) -> str:
    if not sources:
        return ""
    named = ", ".join(
        f"{_quoted(source.source_id)} ({source.embedded} of {source.chunks})" for source in sources[:MANY]
    )
    return f" Still being embedded, so found only by words for now: {named}. Search again later for more."


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}…"


def _message(error: InvalidInput) -> str:
    return escape(str(error), quote=False)


def _quoted(text: str) -> str:
    """Return a value from the model for use in a sentence: escaped and shortened."""
    return escape(repr(text if len(text) <= LONGEST_ID else f"{text[:LONGEST_ID]}…"), quote=False)
