"""Prompt blocks for the files of a chat."""

from collections.abc import Mapping, Sequence
from typing import Final

from cognition.storage.resources import Resource
from cognition.text.blocks import block

SEARCH_HINT: Final = 'This is a summary, not the file: to find its contents, call `search_sessions_context` with source_id="{id}".'
"""The line under a summary that tells the model how to search the file."""


def context_blocks(resources: Sequence[Resource], texts: Mapping[str, str]) -> str:
    """Render the files of a chat for a prompt: in full, or as a summary with a search hint.

    Args:
        resources: The files, in display order.
        texts: The full texts of the files to show in full, by resource id.
    """
    blocks = [
        smart_context(resource, texts.get(resource.id, ""))
        for resource in resources
        if resource.id in texts or resource.status == "VECTORIZED_SUM_UP"
    ]
    return "\n\n".join(blocks)


def smart_context(resource: Resource, text: str = "") -> str:
    """Render one file for a prompt. Its content is escaped, so it can't close the block.

    Args:
        resource: The file.
        text: The full text; empty to show the summary instead.
    """
    body = text or f"{resource.summary}\n\n{SEARCH_HINT.format(id=resource.id)}"
    return block(
        "smart_context",
        body,
        filename=resource.name,
        mime_type=resource.mime,
        mode="put_in_context" if text else "vectorized_sum_up",
        source_id=resource.id,
    )


def reference_block(resource: Resource) -> str:
    """Return the block that replaces an attached file in a stored message."""
    return block("attachment", resource.name, mime_type=resource.mime, resource_id=resource.id)


def rejection_block(reason: str) -> str:
    """Return the block that replaces a rejected attachment in a stored message.

    Args:
        reason: The reason for the rejection, as a sentence.
    """
    return block("attachment", reason, status="refused")
