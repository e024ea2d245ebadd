"""A memory over a real engine and real embeddings, whose distillation model says what a test scripts."""

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
    """Script the distillation model: how it files each fact, and its verdict on two close ones."""

    def script(
        ids: dict[str, str] | None = None, verdict: str = "distinct", text: str = "", **more: Any
    ) -> None:
        def say(request: Request) -> Reply:
            if "<newer>" in request.texts[-1]:
                return Reply(text=json.dumps({"verdict": verdict, "text": text}))
            fact = blocks(request)["fact"]
            filing = {"memory_id": (ids or {}).get(fact, fact), "tags": [], "origin": "user", **more}
            return Reply(text=f"```json\n{json.dumps(filing)}\n```")

        rehearsal.script(DISTILLATION, say)

    return script


@pytest.fixture
def keep(memory: LongTermMemory) -> Keep:
    """Write a fact of Ada's."""

    async def write(fact: str, importance: object = 3, **own: Any) -> WriteResult:
        given = {"user_id": "ada", "chat_id": "chat", "artifact_name": PROFILE, **own}
        return await memory.write(fact=fact, importance=importance, **given)

    return write


def blocks(request: Request) -> dict[str, str]:
    """The blocks of a distillation request by their names, as they were before escaping."""
    found = re.findall(r"<(\w+)>\n(.*?)\n</\1>", request.texts[-1], re.DOTALL)
    return {name: unescape(body) for name, body in found}


def stored(fact: str, **own: Any) -> Memory:
    """A memory as an import stores it."""
    given: dict[str, Any] = {
        "user_id": "ada",
        "memory_id": re.sub(r"[^a-z0-9]+", "_", fact.lower())[:60].strip("_"),
        "artifact_name": PROFILE,
        "memory_importance": 3,
        "created_at": 1.7e9,
        "updated_at": 1.7e9,
        **own,
    }
    return Memory(fact=fact, **given)


async def facts_of(memory: LongTermMemory, user_id: str = "ada") -> list[str]:
    """All that is remembered of a user, in alphabetical order."""
    return sorted(m.fact for m in (await memory.index(user_id, limit=1_000)).memories)
