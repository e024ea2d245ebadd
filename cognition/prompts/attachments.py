"""What models are asked of files, and how files stand before them."""

from collections.abc import Mapping, Sequence
from typing import Final

from cognition.storage.resources import Resource
from cognition.text.blocks import block

SEARCH: Final = 'This is a summary and not the file: for what it holds call `search_sessions_context` with source_id="{id}".'


def context_blocks(resources: Sequence[Resource], texts: Mapping[str, str]) -> str:
    """The files of a chat as they stand in a prompt: whole, or as a summary with the way to the rest.

    Args:
        resources: The files, in the order in which they are shown.
        texts: The whole texts of those that are shown whole, by resource id.
    """
    shown = [
        smart_context(resource, texts.get(resource.id, ""))
        for resource in resources
        if resource.id in texts or resource.status == "VECTORIZED_SUM_UP"
    ]
    return "\n\n".join(shown)


def smart_context(resource: Resource, text: str = "") -> str:
    """One file as it stands in a prompt; nothing in it can close its block.

    Args:
        resource: The file.
        text: Its whole text; empty for its summary.
    """
    body = text or f"{resource.summary}\n\n{SEARCH.format(id=resource.id)}"
    return block(
        "smart_context",
        body,
        filename=resource.name,
        mime_type=resource.mime,
        mode="put_in_context" if text else "vectorized_sum_up",
        source_id=resource.id,
    )


def reference_block(resource: Resource) -> str:
    """What stands in a stored message in place of a file that came with it."""
    return block("attachment", resource.name, mime_type=resource.mime, resource_id=resource.id)


def refusal_block(reason: str) -> str:
    """What stands in a stored message in place of a file that was not taken.

    Args:
        reason: Why, in a sentence.
    """
    return block("attachment", reason, status="refused")
