"""The HTTP app on the test's home folder, without a server."""

from collections.abc import AsyncIterator

import httpx
import pytest

from apps.server.app import app, lifespan
from cognition.services import process_services
from cognition.settings import process_settings

URL = "http://127.0.0.1:2024"


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    process_settings.cache_clear()
    process_services.cache_clear()
    monkeypatch.setenv("LANGGRAPH_API_URL", URL)
    async with (
        lifespan(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL) as client,
    ):
        yield client
    process_settings.cache_clear()
    process_services.cache_clear()
