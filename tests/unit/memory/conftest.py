"""Fixtures for long-term memory with a real engine, real embeddings and a scripted distillation model."""

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from cognition.memory.long_term.memory import Memory
from cognition.memory.long_term.store import LongTermMemory
from cognition.memory.long_term.writer import WriteResult
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.services import Services
from tests.conftest import DISTILLATION

PROFILE = "Profil d'Alignement"

Distil = Callable[..., None]
Keep = Callable[..., Any]


@pytest.fixture
async def memory(services: Services) -> LongTermMemory:
    return await services.memory()


@pytest.fixture
def distil(rehearsal: RehearsalServer) -> Distil:
    """Return a function that scripts the distillation model: the ids of facts, and its verdict."""

    def script(
        ids: dict[str, str] | None = None, verdict: str = "distinct", text: str = "", **more: Any
    ) -> None:
        def respond(request: Request) -> Reply:
            if "<newer>" in request.texts[-1]:
                return Reply(text=json.dumps({"verdict": verdict, "text": text}))
            fact = blocks(request)["fact"]
            filing = {"memory_id": (ids or {}).get(fact, fact), "tags": [], "origin": "user", **more}
            return Reply(text=f"```json\n{json.dumps(filing)}\n```")

        rehearsal.script(DISTILLATION, respond)

    return script


@pytest.fixture
def keep(memory: LongTermMemory) -> Keep:
    """Return a function that writes a fact for Ada."""

    async def write(fact: str, importance: object = 3, **own: Any) -> WriteResult:
        arguments = {"user_id": "ada", "chat_id": "chat", "artifact_name": PROFILE, **own}
        return await memory.write(fact=fact, importance=importance, **arguments)

    return write


def blocks(request: Request) -> dict[str, str]:
    """Return the unescaped blocks of a distillation request, by name."""
    matches = re.findall(r"<(\w+)>\n(.*?)\n</\1>", request.texts[-1], re.DOTALL)
    return {name: unescape(body) for name, body in matches}


def stored(fact: str, **own: Any) -> Memory:
    """Return a memory to import."""
    values: dict[str, Any] = {
        "user_id": "ada",
        "memory_id": re.sub(r"[^a-z0-9]+", "_", fact.lower())[:60].strip("_"),
        "artifact_name": PROFILE,
        "memory_importance": 3,
        "created_at": 1.7e9,
        "updated_at": 1.7e9,
        **own,
    }
    return Memory(fact=fact, **values)


async def facts_of(memory: LongTermMemory, user_id: str = "ada") -> list[str]:
    """Return all facts remembered about a user, in alphabetical order."""
    return sorted(m.fact for m in (await memory.index(user_id, limit=1_000)).memories)
