"""Images, audio, video and scans: shown to a model as they are, or put into words by one."""

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from cognition.documents.extraction import DOCUMENT_THREADS
from cognition.documents.isolation import picked
from cognition.errors import CognitionError
from cognition.ingestion.prompts import DESCRIBE, WANTED, describe_request
from cognition.levels import LEVELS
from cognition.messages.context_window import ADVISED_FROM
from cognition.models.client import Models
from cognition.models.outcome import Failure, is_truncated
from cognition.models.retry import Notify
from cognition.storage.resources import Resource

MOST_BYTES: Final = 14 << 20
"""Of a file in a request: Gemini takes 20 MB, and base64 is a third longer than what it holds."""

READABLE: Final = {
    **{f"image/{name}": f"image/{name}" for name in ("png", "jpeg", "webp")},
    **{f"audio/{name}": f"audio/{name}" for name in ("wav", "mpeg", "aac", "ogg", "flac", "aiff")},
    **{f"audio/x-{name}": f"audio/{name}" for name in ("wav", "flac", "aiff")},
    **{f"video/{name}": f"video/{name}" for name in ("mp4", "mpeg", "webm", "3gpp", "quicktime")},
}
"""Media types as files tell them, and as models take them (ai.google.dev/gemini-api/docs); the images are
also those that every provider takes."""

CUT_SHORT: Final = "[Here the model's answer was cut off: the rest of the file was not read.]"


class NoTranscription(CognitionError):
    """A file that no model put into words; says why and what to do."""


def shown_as_it_is(resource: Resource, fill: float, models: Models) -> bool:
    """Whether a model of every level can look at a file, and it is small enough for that. Blocking.

    What is rehearsed stands in for such a model and looks at nothing.

    Args:
        resource: The file.
        fill: How full the context is, 0–1.
        models: The levels, and the limits in their settings.
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
    """A file as a content block for a model.

    Args:
        resource: The file.
        content: What of it is shown.
    """
    return {
        "type": "file" if resource.resource_type == "document" else resource.resource_type,
        "base64": b64encode(content).decode(),
        "mime_type": READABLE.get(resource.mime, resource.mime),
        "filename": resource.name,
    }


async def put_into_words(
    resource: Resource, path: Path, models: Models, notify: Notify, pages: Sequence[int] = ()
) -> str:
    """What an image, a recording or a scan holds, as the distillation model reads it.

    Args:
        resource: The file.
        path: Where its copy is.
        models: Whose distillation model is asked.
        notify: See `Models.call`.
        pages: The numbers of the pages of a PDF that are shown; empty for all of the file.

    Raises:
        NoTranscription: There is no such model, the file is too large for it, or it gave nothing usable.
        Unreadable: The pages can't be taken out of the PDF, or are too large together.
    """
    if models.rehearses("MODEL_DISTILLATION"):
        msg = "No model is there to look at it: set GOOGLE_API_KEY and give the file again."
        raise NoTranscription(msg)
    if pages:
        loop = asyncio.get_running_loop()
        content = await loop.run_in_executor(DOCUMENT_THREADS, picked, path, pages, MOST_BYTES)
    elif resource.size > MOST_BYTES:
        msg = f"It is larger than the {MOST_BYTES >> 20} MiB that a model is sent: give it in parts."
        raise NoTranscription(msg)
    else:
        content = await asyncio.to_thread(path.read_bytes)
    shown = await asyncio.to_thread(media_block, resource, content)
    wanted = WANTED[resource.resource_type]
    request: list[AnyMessage] = [
        SystemMessage(DESCRIBE.format(wanted=wanted)),
        HumanMessage([{"type": "text", "text": describe_request(resource)}, shown]),
    ]
    outcome = await models.call("MODEL_DISTILLATION", request, notify=notify)
    if isinstance(outcome, Failure):
        msg = f"No model could look at it: {outcome.sentence}"
        raise NoTranscription(msg)
    if not (text := outcome.text.strip()):
        msg = f"{outcome.model} had nothing to say of it."
        raise NoTranscription(msg)
    return f"{text}\n\n{CUT_SHORT}" if is_truncated(outcome.message) else text
