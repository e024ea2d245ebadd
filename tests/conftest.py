"""Fixtures for all tests: real servers on the loopback interface, real stores in a temporary folder."""

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # read when langgraph is first imported

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from cognition.context import BoundContext
from cognition.rehearsal import RehearsalServer, Reply
from cognition.services import Services
from cognition.settings import Settings

LITE, FLASH, PRO = "gemini-3.5-flash-lite", "gemini-3.8-flash", "gemini-3.1-pro-preview"
DISTILLATION = "gemini-2.5-flash-lite"


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the developer's settings, keys and `.env` away from tests."""
    for name in list(os.environ):
        if name.startswith(("COGNITION_", "GOOGLE_", "GEMINI_", "QDRANT_", "LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    monkeypatch.setitem(Settings.model_config, "env_file", None)
    monkeypatch.setenv("COGNITION_HOME", str(tmp_path / "home"))


@pytest.fixture(autouse=True)
def _nothing_blocks_an_event_loop() -> Iterator[None]:
    """P26: make blocking calls of our code on a running loop an error, as the dev server does.

    Blocking calls of the tests themselves are allowed.
    """
    with blockbuster_ctx(scanned_modules=["apps", "cognition", "graphs", "nodes", "tools"]) as blockbuster:
        # Tests that run their own rehearsal server wait for it to stop.
        blockbuster.functions["threading.Lock.acquire"].can_block_in("rehearsal/server.py", "stop")
        yield


@pytest.fixture
def rehearsal() -> Iterator[RehearsalServer]:
    """A rehearsal server; a test scripts each model that it expects to be called."""
    with RehearsalServer({DISTILLATION: [Reply(text="This is not JSON.")]}) as server:
        yield server


@pytest.fixture
def make_settings(rehearsal: RehearsalServer, tmp_path: Path) -> Callable[..., Settings]:
    """Return a function that makes settings for the rehearsal server; a test can override any of them."""

    def make(**overrides: Any) -> Settings:
        defaults = {
            "home": tmp_path / "home",
            "GOOGLE_API_KEY": "test",
            "GOOGLE_GEMINI_BASE_URL": rehearsal.url,
            "model_distillation": f"google_genai:{DISTILLATION}",
        }
        return Settings(**{**defaults, **overrides})

    return make


@pytest.fixture
async def services(make_settings: Callable[..., Settings]) -> AsyncIterator[Services]:
    """Services on an empty home folder."""
    services = Services(make_settings())
    yield services
    await services.aclose()


@pytest.fixture
def context(services: Services) -> BoundContext:
    """A run context for the user Ada with the test's services."""
    return BoundContext(user_id="ada", bound=services)
