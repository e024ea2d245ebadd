"""Images, audio, video and scans: sent to a model directly, or transcribed by one."""

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from cognition.documents.extraction import DOCUMENT_THREADS
from cognition.documents.isolation import extract_pages
from cognition.errors import CognitionError
from cognition.ingestion.prompts import DESCRIBE, INSTRUCTIONS, describe_request
from cognition.levels import LEVELS
from cognition.messages.context_window import ADVISED_FROM
from cognition.models.client import Models
from cognition.models.outcome import Failure, is_truncated
from cognition.models.retry import Notify
from cognition.storage.resources import Resource

MAX_BYTES: Final = 14 << 20
"""Maximum bytes of a file in a request: Gemini accepts 20 MB, and base64 adds a third."""

READABLE: Final = {
    **{f"image/{name}": f"image/{name}" for name in ("png", "jpeg", "webp")},
    **{f"audio/{name}": f"audio/{name}" for name in ("wav", "mpeg", "aac", "ogg", "flac", "aiff")},
    **{f"audio/x-{name}": f"audio/{name}" for name in ("wav", "flac", "aiff")},
    **{f"video/{name}": f"video/{name}" for name in ("mp4", "mpeg", "webm", "3gpp", "quicktime")},
}
"""Detected media types, mapped to the names that models accept (ai.google.dev/gemini-api/docs). The image
types are accepted by every provider."""

CUT_SHORT: Final = "[The model's answer was cut off here: the rest of the file was not read.]"


class NoTranscription(CognitionError):
    """A file that no model transcribed. The message says why and what to do."""


def can_be_shown(resource: Resource, fill: float, models: Models) -> bool:
    """Return True if a file is small enough to send and models of all levels can read it. Blocking.

    Rehearsed levels do not count: they cannot read files.

    Args:
        resource: The file.
        fill: Used share of the context window, 0–1.
        models: The models of all levels and their settings.
    """
    settings = models.settings
    limit = settings.context_media_bytes if fill < ADVISED_FROM else settings.crowded_file_bytes + 1
    return (
        resource.mime in READABLE
        and resource.size < limit
        and all(
            models.reads(level, resource.resource_type) and not models.rehearses(level) for level in LEVELS
        )
    )


def media_block(resource: Resource, content: bytes) -> dict[str, Any]:
    """Return a content block that shows a file to a model.

    Args:
        resource: The file.
        content: The bytes to send: the whole file or some of its pages.
    """
    return {
        "type": "file" if resource.resource_type == "document" else resource.resource_type,
        "base64": b64encode(content).decode(),
        "mime_type": READABLE.get(resource.mime, resource.mime),
        "filename": resource.name,
    }


async def transcribe(
    resource: Resource, path: Path, models: Models, notify: Notify, pages: Sequence[int] = ()
) -> str:
    """Return a transcription of an image, recording, video or scan by the distillation model.

    Args:
        resource: The file.
        path: The path of its copy.
        models: The models, including the distillation model.
        notify: See `Models.call`.
        pages: Page numbers of a PDF to send; empty to send the whole file.

    Raises:
        NoTranscription: If there is no such model, the file is too large for it, or its answer is unusable.
        UnreadableFile: If the pages cannot be extracted from the PDF or are too large together.
    """
    if models.rehearses("MODEL_DISTILLATION"):
        msg = "No model is available to read this file. Set GOOGLE_API_KEY and add it again."
        raise NoTranscription(msg)
    if pages:
        loop = asyncio.get_running_loop()
        content = await loop.run_in_executor(DOCUMENT_THREADS, extract_pages, path, pages, MAX_BYTES)
    elif resource.size > MAX_BYTES:
        msg = f"The file is larger than the {MAX_BYTES >> 20} MiB that can be sent to a model. Split it."
        raise NoTranscription(msg)
    else:
        content = await asyncio.to_thread(path.read_bytes)
    file_block = await asyncio.to_thread(media_block, resource, content)
    instructions = INSTRUCTIONS[resource.resource_type]
    request: list[AnyMessage] = [
        SystemMessage(DESCRIBE.format(instructions=instructions)),
        HumanMessage([{"type": "text", "text": describe_request(resource)}, file_block]),
    ]
    outcome = await models.call("MODEL_DISTILLATION", request, notify=notify)
    if isinstance(outcome, Failure):
        msg = f"No model could read the file: {outcome.sentence}"
        raise NoTranscription(msg)
    if not (text := outcome.text.strip()):
        msg = f"{outcome.model} returned no text for the file. Add the file again to retry."
        raise NoTranscription(msg)
    return f"{text}\n\n{CUT_SHORT}" if is_truncated(outcome.message) else text
