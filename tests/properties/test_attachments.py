"""Properties of attachments: any item is read as a file or rejected with a message."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cognition.ingestion.attachments import read_attachment
from cognition.storage.files import FileRejected

KEYS = [
    "type",
    "source_type",
    "data",
    "base64",
    "url",
    "text",
    "mime",
    "mime_type",
    "file",
    "image_url",
    "input_audio",
    "source",
    "name",
    "filename",
    "title",
    "extras",
    "metadata",
    "id",
    "file_id",
    "value",
    "format",
]
TYPES = [
    "text",
    "text-plain",
    "image",
    "image_url",
    "file",
    "media",
    "input_audio",
    "audio",
    "video",
    "document",
    "non_standard",
]

leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["aGk=", *TYPES])
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
)
items = st.dictionaries(st.sampled_from(KEYS), values, max_size=5)
typed = st.builds(lambda kind, item: {**item, "type": kind}, st.sampled_from(TYPES), items)


@given(items | typed)
def test_p52_any_item_is_a_file_or_rejected(item: dict[str, Any]) -> None:
    try:
        attachment = read_attachment(item, 1_000)
    except FileRejected:
        return
    assert attachment.name
    assert len(attachment.name.encode()) <= 255
    assert "/" not in attachment.name
