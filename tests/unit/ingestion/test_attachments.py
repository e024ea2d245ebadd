"""Files in the formats that clients send: inline data, and content blocks of Studio and the providers."""

from base64 import b64encode
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from cognition.ingestion.attachments import clean_name, file_blocks, read_attachment, with_references
from cognition.storage.files import FileRejected

MIB = 1 << 20
TEXT = "héllo"
DATA = b64encode(TEXT.encode()).decode()
URI = f"data:image/png;base64,{DATA}"


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"name": "a.txt", "mime": "text/plain", "data": DATA}, "a.txt"),
        ({"name": "a.txt", "data": f"data:text/plain;base64,{DATA}"}, "a.txt"),
        ({"name": "a.txt", "data": TEXT.encode()}, "a.txt"),
        ({"mime": "text/csv", "data": DATA}, "file.csv"),
        ({"name": "a.txt", "data": "data:text/plain,h%C3%A9llo"}, "a.txt"),
        ({"type": "image", "base64": DATA, "mime_type": "image/png"}, "image.png"),
        (
            {"type": "image", "base64": DATA, "mime_type": "image/png", "extras": {"filename": "b.png"}},
            "b.png",
        ),
        ({"type": "image", "source_type": "base64", "data": DATA, "mime_type": "image/png"}, "image.png"),
        (
            {
                "type": "file",
                "source_type": "base64",
                "data": DATA,
                "mime_type": "application/pdf",
                "metadata": {"name": "c.pdf"},
            },
            "c.pdf",
        ),
        ({"type": "file", "source_type": "text", "text": TEXT, "filename": "d.md"}, "d.md"),
        ({"type": "text-plain", "text": TEXT, "title": "e.txt"}, "e.txt"),
        ({"type": "file", "base64": DATA, "filename": "g.md", "extras": "x", "metadata": [1]}, "g.md"),
        ({"type": "file", "base64": DATA, "extras": {"metadata": "x"}}, "file"),
        ({"type": "image_url", "image_url": {"url": URI}}, "image.png"),
        ({"type": "image_url", "image_url": URI}, "image"),
        ({"type": "file", "file": {"filename": "f.pdf", "file_data": URI}}, "f.pdf"),
        ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "audio"),
        ({"type": "media", "mime_type": "video/mp4", "data": DATA}, "file.mp4"),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
            "image.png",
        ),
        ({"type": "video", "base64": DATA, "mime_type": "video/mp4"}, "video.mp4"),
    ],
)
def test_a_file_is_read_from_every_form_that_clients_send(item: dict[str, Any], name: str) -> None:
    attachment = read_attachment(item, MIB)
    assert (attachment.source, attachment.name, attachment.resource_type) == (TEXT.encode(), name, None)


@pytest.mark.parametrize("item", [{"name": "a.txt", "data": ""}, {"type": "file", "base64": ""}])
def test_p61_an_empty_file_is_a_file(item: dict[str, Any]) -> None:
    assert read_attachment(item, MIB).source == b""


def test_a_text_is_a_note_and_an_address_is_kept_and_not_opened() -> None:
    assert read_attachment({"type": "text", "text": TEXT}, MIB).resource_type == "note"
    web = read_attachment({"type": "image", "url": "https://example.org/a%20b/cat.png?x=1"}, MIB)
    assert (web.resource_type, web.source) == ("weburl", b"https://example.org/a%20b/cat.png?x=1")


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ({}, "Invalid file"),
        ({"data": 7}, "Invalid file"),
        ({"data": None, "url": None}, "Invalid file"),
        ({"name": "x", "data": "not base64!"}, "'x' is not valid base64"),
        ({"type": "image", "url": "file:///etc/passwd"}, "Invalid file"),
        ({"type": "file", "file_id": "files/1"}, "Invalid file"),
        ({"type": "image", "source_type": "base64"}, "Unsupported content block"),
        ({"type": "text", "text": " \n"}, "blank"),
        ({"name": "x", "data": b64encode(bytes(MIB + 1)).decode()}, "larger than 1 MiB"),
        ({"name": "x", "data": bytes(MIB + 1)}, "larger than 1 MiB"),
        ({"type": "text", "text": "x" * (MIB + 1)}, "larger than 1 MiB"),
    ],
)
def test_what_is_no_file_or_too_large_is_a_sentence(item: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FileRejected, match=sentence):
        read_attachment(item, MIB)


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\cv.docx", "cv.docx"),
        ("a\x00b\u202e\ud800.txt", "ab.txt"),
        ("  ", "image.png"),
        ("..", "image.png"),
        ("/", "image.png"),
        ("x" * 9_000 + ".txt", "x" * 180 + ".txt"),
        ("é" * 9_000 + ".txt", "é" * 90 + ".txt"),
        ("a." + "x" * 500, ("a." + "x" * 500)[:180]),
    ],
)
def test_p52_p79_a_name_is_plain_whatever_was_given(original: str, name: str) -> None:
    assert clean_name(original, "image", "image/png") == name


def test_the_files_of_a_message_give_way_to_references_under_the_same_id() -> None:
    image: dict[str, Any] = {"type": "image", "base64": DATA, "mime_type": "image/png"}
    message = HumanMessage(
        ["Look: ", image, {"type": "text", "text": "and"}, {**image, "extras": {}}], id="m"
    )
    assert file_blocks(message) == [image, {**image, "extras": {}}]
    replaced = with_references(message, ["first", "second"])
    assert (replaced.id, replaced.text) == ("m", "Look: firstandsecond")
    assert DATA not in str(replaced)
    assert file_blocks(HumanMessage("no file")) == []
    assert with_references(HumanMessage("no file", id="n"), []).text == "no file"
