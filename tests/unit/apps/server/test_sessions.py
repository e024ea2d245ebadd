import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from cognition.ingestion.attachments import Attachment
from cognition.ingestion.intake import open_intake
from cognition.services import process_services
from cognition.storage.resources import Resource

ADA = {"user_id": "ada"}


@pytest.fixture
async def resource(client: httpx.AsyncClient) -> Resource:
    """Store a note for Ada without ingesting it."""
    intake = await open_intake(process_services())
    note = Attachment("note.md", b"The spare key hangs behind the tide table.")
    return (await asyncio.to_thread(intake.take, "ada", "chat", note))[0]


async def events(client: httpx.AsyncClient, ids: list[str], user: str = "ada") -> list[dict[str, Any]]:
    """Ingest resources and return the events."""
    answer = await client.post(
        "/cognition/sessions/chat/ingest", params={"user_id": user}, json={"resources": ids}
    )
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_ingesting_showing_and_closing(
    client: httpx.AsyncClient, resource: Resource, tmp_path: Path
) -> None:
    ingested = await events(client, [resource.id])
    assert {
        "type": "ingest",
        "resource_id": resource.id,
        "name": "note.md",
        "status": "PUT_IN_CONTEXT",
    } in ingested
    assert ingested[-1]["resources"][0]["status"] == "PUT_IN_CONTEXT"
    listed = (await client.get("/cognition/sessions", params=ADA)).json()
    assert [row["chat_id"] for row in listed["sessions"]] == ["chat"]
    shown = (await client.get("/cognition/sessions/chat", params=ADA)).json()
    assert [row["name"] for row in shown["resources"]] == ["note.md"]
    foreign = (await client.delete("/cognition/sessions/chat", params={"user_id": "bob"})).json()
    assert foreign["resources"] == 0
    assert (await client.delete("/cognition/sessions/chat", params=ADA)).json()["resources"] == 1
    assert (await client.get("/cognition/sessions", params=ADA)).json()["sessions"] == []


async def test_p47_another_user_s_resource_is_not_ingested(
    client: httpx.AsyncClient, resource: Resource
) -> None:
    assert await events(client, [resource.id], "bob") == [{"type": "ingested", "resources": []}]
    registry = await process_services().registry()
    row = await asyncio.to_thread(registry.get, "ada", resource.id)
    assert row
    assert row.status == "PENDING_INGESTION"


async def test_p47_a_blank_user_is_rejected(client: httpx.AsyncClient, resource: Resource) -> None:
    for method, path in (
        ("GET", ""),
        ("GET", "/chat"),
        ("DELETE", "/chat"),
        ("POST", "/chat/ingest"),
        ("DELETE", "/%20"),
    ):
        user = "ada" if path == "/%20" else " "
        answer = await client.request(method, f"/cognition/sessions{path}", params={"user_id": user})
        assert answer.status_code == 400
        assert "blank" in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"[]", b'{"resources": "id"}', b'{"resources": [1]}', b"{", b"\xff"])
async def test_a_body_without_resources_is_rejected(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post("/cognition/sessions/chat/ingest", params=ADA, content=body)
    assert answer.status_code == 400
    assert "resources" in answer.json()["error"]
