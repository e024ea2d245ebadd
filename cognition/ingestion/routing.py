"""Routing of files: whole into the prompt, into session memory with a summary, or into the registry only."""

from collections.abc import Sequence
from typing import Final, Literal

from cognition.ingestion.media import can_be_shown
from cognition.ingestion.text_extraction import text_preview
from cognition.messages.context_window import ADVISED_FROM, TRIMMED_FROM
from cognition.models.client import Models
from cognition.storage.files import Files
from cognition.storage.resources import Resource, ResourceTable

Destination = Literal["put_in_context", "vectorize", "register_only"]

MOST_SHOWN: Final = 10 << 20
"""Maximum bytes of media in a prompt. Less than the request limit of 14 MiB, because branches that run in
parallel can each add one more file."""

MEDIA_TOKENS: Final = 258
"""Estimated tokens of a media file: Gemini's count for one image tile."""


def choose_destination(
    resource: Resource, *, fill: float, since: float, files: Files, registry: ResourceTable, models: Models
) -> Destination:
    """Choose the destination of a file; if it is the prompt, register the file there. Blocking.

    Args:
        resource: The file, after text extraction.
        fill: Used share of the context window, 0–1, at the time `since`.
        since: Unix seconds. Files put into the prompt after this time are added to `fill`.
        files: The storage of the texts.
        registry: The registry that records the decision.
        models: The models of all levels and their settings.
    """
    size = text_size(resource, files)
    if size is None and (resource.error or not can_be_shown(resource, fill, models)):
        return "register_only"
    if size is not None and resource.resource_type in ("image", "audio", "video"):
        return "vectorize"  # the prompt shows the transcription as a summary
    settings = models.settings

    def fits(shown: Sequence[Resource]) -> bool:
        if size is None:
            return True
        others = [other for other in shown if other.id != resource.id]
        before = sum(_tokens(other, files) for other in others if other.updated_at < since)
        added = sum(_tokens(other, files) for other in others if other.updated_at >= since)
        window = settings.context_tokens
        used = max(fill, before / window) + added / window
        if used >= ADVISED_FROM:
            return size <= settings.crowded_file_bytes and used < TRIMMED_FROM
        return size < settings.context_file_bytes

    in_context = registry.put_in_context(resource, text_preview(resource, files), fits)
    return "put_in_context" if in_context else "vectorize"


def has_room_for_media(resource: Resource, files: Files, registry: ResourceTable) -> bool:
    """Return True if a request has room for a file next to the other media of its chat. Blocking."""
    shown = registry.find(resource.user_id, resource.chat_id, status="PUT_IN_CONTEXT")
    media = [other for other in shown if other.id != resource.id and text_size(other, files) is None]
    return resource.size + sum(other.size for other in media) <= MOST_SHOWN


def text_size(resource: Resource, files: Files) -> int | None:
    """Return the size of a file's text in bytes, or None if it has no text. Blocking."""
    try:
        return files.text(resource).stat().st_size
    except FileNotFoundError:
        return None


def _tokens(resource: Resource, files: Files) -> int:
    size = text_size(resource, files)
    return MEDIA_TOKENS if size is None else size // 4
