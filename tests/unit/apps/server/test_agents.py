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
    """A sub-agent of Ada's chat that may think on the lowest level only."""
    narrow = agents(process_services(), policy="MODEL_LITE")
    return (await narrow.delegate(Assignment(task="plan a trip, and ask me where to go"))).sub_sid


async def resumed(client: httpx.AsyncClient, sub_sid: str, wish: dict[str, Any]) -> dict[str, Any]:
    """What came of letting it go on."""
    answer = await client.post(f"/cognition/agents/{sub_sid}/resume", params=ADA, json=wish)
    assert answer.status_code == 200
    return dict(json.loads(answer.text.splitlines()[-1]))


async def test_a_sub_agent_goes_on_under_its_policy_or_another(
    client: httpx.AsyncClient, sub_sid: str
) -> None:
    wish = {"text": "think harder about it"}
    assert (await resumed(client, sub_sid, wish))["level"] == "MODEL_LITE"
    assert (await resumed(client, sub_sid, {**wish, "policy": "AUTO_PRO"}))["level"] == "MODEL_PRO"
    assert [(t.sub_sid, t.policy) for t in await agents(process_services()).open_threads()] == [
        (sub_sid, "AUTO_PRO")
    ]


@pytest.mark.parametrize("wish", [b"", b"[]", b'{"policy": "HIGHEST"}', b'{"text": 1}', b"\xff"])
async def test_a_wish_that_can_t_be_meant_is_refused(
    client: httpx.AsyncClient, sub_sid: str, wish: bytes
) -> None:
    answer = await client.post(f"/cognition/agents/{sub_sid}/resume", params=ADA, content=wish)
    assert answer.status_code == 400
    assert "How shall it go on?" in answer.json()["error"]
