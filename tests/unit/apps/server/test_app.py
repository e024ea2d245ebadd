import asyncio
import os
import re
from pathlib import Path

import httpx
import pytest
from starlette.routing import Route

from apps.server.app import app, lifespan
from cognition.memory.long_term.store import LongTermMemory
from cognition.services import process_services
from cognition.settings import process_settings
from cognition.storage.disk.folder_lock import FolderInUse, read_holder
from tests.unit.apps.server.conftest import URL


@pytest.fixture
async def memory(client: httpx.AsyncClient) -> LongTermMemory:
    memory = await process_services().memory()
    await memory.write("ada", "chat", "Profil d'Alignement", "I live in Lyon", 3)
    await memory.write("bob", "chat", "Profil d'Alignement", "My dog is called Rex", 3)
    return memory


async def test_health_and_the_home_folder_name_the_process(client: httpx.AsyncClient, tmp_path: Path) -> None:
    health = (await client.get("/cognition/health")).json()
    assert health == {"status": "ok", "pid": os.getpid(), "home": str(tmp_path / "home"), "rehearsed": True}
    holder = await asyncio.to_thread(read_holder, tmp_path / "home")
    assert (holder.pid, holder.url) == (os.getpid(), URL)


async def test_a_second_server_on_the_home_folder_does_not_start(client: httpx.AsyncClient) -> None:
    process_services.cache_clear()
    with pytest.raises(FolderInUse, match=URL):
        async with lifespan(app):
            pass


async def test_the_home_folder_is_free_after_the_server_stops(client: httpx.AsyncClient) -> None:
    await process_services().aclose()
    async with lifespan(app):
        assert (await client.get("/cognition/health")).status_code == 200


async def test_listing_searching_and_deleting(client: httpx.AsyncClient, memory: LongTermMemory) -> None:
    ada = {"user_id": "ada"}
    listed = (await client.get("/cognition/memory", params=ada)).json()
    assert [m["fact"] for m in listed["memories"]] == ["I live in Lyon"]
    found = (await client.get("/cognition/memory", params={**ada, "query": "where do I live?"})).json()
    assert [m["fact"] for m in found["memories"]] == ["I live in Lyon"]
    path = f"/cognition/memory/{listed['memories'][0]['memory_id']}"
    assert not (await client.delete(path, params={"user_id": "bob"})).json()["found"]
    undone = await client.post(f"{path}/undo", params=ada)
    assert undone.status_code == 400
    assert "i_live_in_lyon" in undone.json()["error"]
    assert (await client.post("/cognition/memory/none/undo", params=ada)).json()["memory"] is None
    assert (await client.delete(path, params=ada)).json()["found"]
    assert (await client.get("/cognition/memory", params=ada)).json()["total"] == 0


@pytest.mark.parametrize("route", [r for r in app.routes if isinstance(r, Route)], ids=lambda r: r.name)
async def test_other_sites_and_host_names_are_rejected(
    client: httpx.AsyncClient, memory: LongTermMemory, route: Route
) -> None:
    path = re.sub(r"{\w+}", "i_live_in_lyon", route.path_format)
    method = next(iter(route.methods - {"HEAD"}))  # type: ignore[operator]
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"host": "evil.example"}):
        answer = await client.request(method, path, params={"user_id": "ada"}, headers=headers)
        assert answer.status_code == 403
        assert "Lyon" not in answer.text
    own = await client.request(method, path, params={"user_id": "ada"}, headers={"origin": URL})
    assert own.status_code != 403


@pytest.mark.parametrize("params", [{}, {"user_id": ""}, {"user_id": " \t"}])
async def test_p47_a_blank_user_is_rejected(
    client: httpx.AsyncClient, memory: LongTermMemory, params: dict[str, str]
) -> None:
    for method, path in (("GET", ""), ("DELETE", "/an_id"), ("POST", "/an_id/undo")):
        answer = await client.request(method, f"/cognition/memory{path}", params=params)
        assert answer.status_code == 400
        assert "blank" in answer.json()["error"]


@pytest.mark.parametrize(
    "params", [{"limit": "0"}, {"limit": "many"}, {"start_date": "yesterday"}, {"limit": "-1"}]
)
async def test_invalid_queries_are_rejected_with_a_message(
    client: httpx.AsyncClient, params: dict[str, str]
) -> None:
    answer = await client.get("/cognition/memory", params={"user_id": "ada", **params})
    assert answer.status_code == 400
    assert next(iter(params.values())) in answer.json()["error"]


async def test_vectors_of_another_model_are_reported(
    client: httpx.AsyncClient, memory: LongTermMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await process_services().aclose()
    monkeypatch.setenv("COGNITION_MEMORY_EMBEDDING", "use-multilingual")
    process_settings.cache_clear()
    process_services.cache_clear()
    answer = await client.get("/cognition/memory", params={"user_id": "ada"})
    assert answer.status_code == 503
    assert "cognition reembed" in answer.json()["error"]
    await process_services().aclose()
