"""Two clients of the rehearsal server over real HTTP: LangChain's client, and plain requests."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from langchain_google_genai import ChatGoogleGenerativeAI

from cognition.rehearsal import RehearsalServer
from tests.conftest import FLASH

Chat = Callable[..., ChatGoogleGenerativeAI]
Post = Callable[..., httpx.Response]


@pytest.fixture
async def chat(rehearsal: RehearsalServer) -> AsyncIterator[Chat]:
    """Create clients of a server, by default the scripted server of the test."""
    made: list[ChatGoogleGenerativeAI] = []

    def make(model: str = FLASH, url: str = rehearsal.url, **options: Any) -> ChatGoogleGenerativeAI:
        defaults: dict[str, Any] = {"google_api_key": "key", "api_version": "v1beta", "max_retries": 1}
        made.append(ChatGoogleGenerativeAI(model=model, base_url=url, **{**defaults, **options}))
        return made[-1]

    yield make
    for model in made:
        await model.aclose()


@pytest.fixture
def post(rehearsal: RehearsalServer) -> Iterator[Post]:
    """Post a body to a method of a model."""
    with httpx.Client(base_url=rehearsal.url, headers={"x-goog-api-key": "key"}) as http:

        def send(body: Any, model: str = FLASH, method: str = "generateContent") -> httpx.Response:
            return http.post(f"/v1beta/models/{model}:{method}", json=body)

        yield send
