"""What every test stands on: real servers on loopback, real stores in a folder of its own."""

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
    """No setting, key or `.env` of the developer reaches a test."""
    for name in list(os.environ):
        if name.startswith(("COGNITION_", "GOOGLE_", "GEMINI_", "QDRANT_", "LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    monkeypatch.setitem(Settings.model_config, "env_file", None)
    monkeypatch.setenv("COGNITION_HOME", str(tmp_path / "home"))


@pytest.fixture(autouse=True)
def _nothing_blocks_an_event_loop() -> Iterator[None]:
    """P26: a blocking call that our code makes on a running loop is an error, as it is under the dev server.

    What a test itself does between two steps blocks nobody.
    """
    with blockbuster_ctx(scanned_modules=["apps", "cognition", "graphs", "nodes", "tools"]) as blockbuster:
        # A test that serves a rehearsal of its own waits for its end where it stands.
        blockbuster.functions["threading.Lock.acquire"].can_block_in("rehearsal/server.py", "stop")
        yield


@pytest.fixture
def rehearsal() -> Iterator[RehearsalServer]:
    """A server on which a test scripts each model that it expects to be called."""
    with RehearsalServer({DISTILLATION: [Reply(text="no JSON: do without me")]}) as server:
        yield server


@pytest.fixture
def make_settings(rehearsal: RehearsalServer, tmp_path: Path) -> Callable[..., Settings]:
    """Settings that lead to the rehearsal, with a test's own beside them."""

    def make(**own: Any) -> Settings:
        given = {
            "home": tmp_path / "home",
            "GOOGLE_API_KEY": "test",
            "GOOGLE_GEMINI_BASE_URL": rehearsal.url,
            "model_distillation": f"google_genai:{DISTILLATION}",
        }
        return Settings(**{**given, **own})

    return make


@pytest.fixture
async def services(make_settings: Callable[..., Settings]) -> AsyncIterator[Services]:
    """Services over an empty folder."""
    services = Services(make_settings())
    yield services
    await services.aclose()


@pytest.fixture
def context(services: Services) -> BoundContext:
    """The context of Ada, whose services are the test's."""
    return BoundContext(user_id="ada", bound=services)
