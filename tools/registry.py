"""The tool for the resource registry: the chat's files with their status."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from reprlib import repr as short_repr
from typing import Any, Final, get_args

from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from cognition.context import Context, context_of, identity_of
from cognition.errors import InvalidInput
from cognition.storage.resources import Resource, ResourceStatus, ResourceType
from cognition.text.blocks import DATA, block
from cognition.text.plural import pluralize

ALL: Final = "Call query_registry without arguments to see all."
MOST_SHOWN: Final = 50
"""Maximum number of resources in a result: at about 60 tokens each, 3,000 tokens."""
PREVIEW: Final = 160
"""Maximum characters of a summary in a list."""


@tool(parse_docstring=True)
async def query_registry(
    runtime: ToolRuntime[Context, Any],
    resource_type: str = "",
    status: str = "",
    search_term: str = "",
    resource_id: str = "",
) -> str:
    """Look up the files and other resources of this conversation, newest first.

    Call it to see which files exist, a file's status, why a file could not be read, or the source_id to
    search it with. Without arguments it lists all.

    Args:
        resource_type: text, document, image, audio, video, binary, weburl or note; empty for all.
        status: PENDING_INGESTION, PUT_IN_CONTEXT, VECTORIZED_SUM_UP, INDEXED or FAILED; empty for all.
        search_term: Only resources whose name or summary contains this text; empty for all.
        resource_id: The id of one resource to show with its full summary; other filters are ignored.
        runtime: Injected by the graph.
    """
    identity = identity_of(runtime)
    registry = await context_of(runtime).services().registry()
    if resource_id := resource_id.strip():
        resource = await asyncio.to_thread(registry.get, identity.user_id, resource_id)
        return (
            _details(resource, identity.chat_id)
            if resource
            else f"No resource has the id {_quoted(resource_id)}. {ALL}"
        )
    resource_type, status = resource_type.strip().lower(), status.strip().upper()
    for name, value, values in (
        ("resource_type", resource_type, get_args(ResourceType)),
        ("status", status, get_args(ResourceStatus)),
    ):
        if value and value not in values:
            expected = f"one of {', '.join(values)}, or empty for all"
            return f"Error: invalid {name} {_quoted(value)}: expected {expected}."
    try:
        resources = await asyncio.to_thread(
            registry.find,
            identity.user_id,
            identity.chat_id,
            resource_type=resource_type,
            status=status,
            term=search_term,
        )
    except InvalidInput as error:
        return f"Error: {escape(str(error), quote=False)}"
    if not resources:
        narrowed = resource_type or status or search_term.strip()
        return f"No resource matches. {ALL}" if narrowed else "This conversation has no resources yet."
    return _listed(resources)


def _listed(resources: Sequence[Resource]) -> str:
    shown = resources[:MOST_SHOWN]
    count = pluralize(len(resources), "resource") + (", newest first" if len(resources) > 1 else "")
    rest = len(resources) - len(shown)
    more = f" Not shown: {rest} older. Narrow by type, status or search_term." if rest else ""
    lines = "\n".join(f"- {_line(resource)}{_preview(resource)}" for resource in shown)
    return f"{count}.{more}\n{block('resources', lines, note=DATA)}"


def _details(resource: Resource, chat_id: str) -> str:
    scope = "" if resource.chat_id == chat_id else ", global_search=True (it is in another conversation)"
    hint = f" Search it with `search_sessions_context`, source_id={resource.id!r}{scope}."
    searchable = resource.status == "VECTORIZED_SUM_UP"
    body = "\n".join(filter(None, [_line(resource), resource.summary]))
    return f"{block('resource', body, note=DATA)}{hint if searchable else ''}"


def _line(resource: Resource) -> str:
    """Render a resource in one line: id, name, type, status, size, time and error."""
    at = datetime.fromtimestamp(resource.created_at, UTC)
    parts = [
        resource.id,
        resource.name,
        f"{resource.resource_type} {resource.mime}",
        resource.status,
        pluralize(resource.size, "byte"),
        *([pluralize(resource.chunks, "chunk")] if resource.chunks else []),
        f"{at:%Y-%m-%d %H:%M} UTC",
        *([" ".join(resource.error.split())] if resource.error else []),
    ]
    return f"[{' · '.join(parts)}]"


def _preview(resource: Resource) -> str:
    text = " ".join(resource.summary.split())
    return f" {text[:PREVIEW]}{'…' if len(text) > PREVIEW else ''}" if text else ""


def _quoted(text: str) -> str:
    """Return a value from the model for use in a sentence: escaped and shortened."""
    return escape(short_repr(text), quote=False)
