"""Where a file goes: whole into the prompt, into session memory with a summary, or into the registry only."""

from collections.abc import Sequence
from typing import Final, Literal

from cognition.ingestion.media import shown_as_it_is
from cognition.ingestion.text_extraction import beginning
from cognition.messages.context_window import ADVISED_FROM, TRIMMED_FROM
from cognition.models.client import Models
from cognition.storage.files import Files
from cognition.storage.resources import Resource, ResourceTable

Destination = Literal["put_in_context", "vectorize", "register_only"]

MOST_SHOWN: Final = 10 << 20
"""Bytes of the media of a prompt: a request takes 14 MiB, and branches that run at once add one each."""

MEDIA_TOKENS: Final = 258
"""Gemini's figure for one image tile."""


def destine(
    resource: Resource, *, fill: float, since: float, files: Files, registry: ResourceTable, models: Models
) -> Destination:
    """Decide for one file; one that goes into the prompt has its place there when this returns. Blocking.

    Args:
        resource: The file, read as far as it can be.
        fill: How full the context was, 0–1, before what came since `since`.
        since: Unix seconds; what was put into the prompt after that counts on top.
        files: Where the texts are.
        registry: Where the decision is kept.
        models: The levels, and the limits in their settings.
    """
    size = text_size(resource, files)
    if size is None and (resource.error or not shown_as_it_is(resource, fill, models)):
        return "register_only"
    if size is not None and resource.resource_type in ("image", "audio", "video"):
        return "vectorize"  # what a model made of it stands in the prompt as its summary
    settings = models.settings

    def fits(shown: Sequence[Resource]) -> bool:
        if size is None:
            return True
        others = [one for one in shown if one.id != resource.id]
        before = sum(_tokens(one, files) for one in others if one.updated_at < since)
        added = sum(_tokens(one, files) for one in others if one.updated_at >= since)
        window = settings.context_tokens
        taken = max(fill, before / window) + added / window
        if taken >= ADVISED_FROM:
            return size <= settings.crowded_file_bytes and taken < TRIMMED_FROM
        return size < settings.context_file_bytes

    placed = registry.put_in_context(resource, beginning(resource, files), fits)
    return "put_in_context" if placed else "vectorize"


def has_room_for_media(resource: Resource, files: Files, registry: ResourceTable) -> bool:
    """Whether a request can carry a file beside the other media of its chat. Blocking."""
    shown = registry.find(resource.user_id, resource.chat_id, status="PUT_IN_CONTEXT")
    media = [one for one in shown if one.id != resource.id and text_size(one, files) is None]
    return resource.size + sum(one.size for one in media) <= MOST_SHOWN


def text_size(resource: Resource, files: Files) -> int | None:
    """The bytes of a file's text; None when it has none. Blocking."""
    try:
        return files.text(resource).stat().st_size
    except FileNotFoundError:
        return None


def _tokens(resource: Resource, files: Files) -> int:
    size = text_size(resource, files)
    return MEDIA_TOKENS if size is None else size // 4
