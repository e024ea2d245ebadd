import json
from typing import Any

import httpx
import pytest

from cognition.delegation.assignment import Assignment
from cognition.services import process_services
from tests.graphs.agents import agents

ADA = {"user_id": "ada"}


@pytest.fixture
async def sub_sid(client: httpx.AsyncClient) -> str:
    """Return the id of a sub-agent in Ada's chat that may only use the lowest level."""
    narrow = agents(process_services(), policy="MODEL_LITE")
    return (await narrow.delegate(Assignment(task="plan a trip, and ask me where to go"))).sub_sid


async def resumed(client: httpx.AsyncClient, sub_sid: str, body: dict[str, Any]) -> dict[str, Any]:
    """Resume a sub-agent and return its report."""
    answer = await client.post(f"/cognition/agents/{sub_sid}/resume", params=ADA, json=body)
    assert answer.status_code == 200
    return dict(json.loads(answer.text.splitlines()[-1]))


async def test_a_sub_agent_resumes_under_its_policy_or_another(
    client: httpx.AsyncClient, sub_sid: str
) -> None:
    body = {"text": "think harder about it"}
    assert (await resumed(client, sub_sid, body))["level"] == "MODEL_LITE"
    assert (await resumed(client, sub_sid, {**body, "policy": "AUTO_PRO"}))["level"] == "MODEL_PRO"
    assert [(t.sub_sid, t.policy) for t in await agents(process_services()).open_threads()] == [
        (sub_sid, "AUTO_PRO")
    ]


@pytest.mark.parametrize("body", [b"", b"[]", b'{"policy": "HIGHEST"}', b'{"text": 1}', b"\xff"])
async def test_an_invalid_body_is_rejected(client: httpx.AsyncClient, sub_sid: str, body: bytes) -> None:
    answer = await client.post(f"/cognition/agents/{sub_sid}/resume", params=ADA, content=body)
    assert answer.status_code == 400
    assert "Invalid request body" in answer.json()["error"]
