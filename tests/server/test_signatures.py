"""P1, P2: thought signatures through `langgraph dev`, whose models are scripted and recorded here.

Slow, because the server is started twice: the second turn comes after a restart.
"""

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from cognition.rehearsal import RehearsalServer
from tests.conftest import FLASH, LITE
from tests.graphs.table import Table, opinion, question
from tests.graphs.test_delegation_signatures import assert_signatures_are_whole, flash, lite
from tests.server.test_dev_server import DevServer


@pytest.fixture
def server(
    rehearsal: RehearsalServer, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DevServer]:
    """A server that uses the test's rehearsal server as Gemini."""
    folder = tmp_path_factory.mktemp("signatures")
    given = {
        "COGNITION_HOME": str(folder / "home"),
        "GOOGLE_API_KEY": "test",
        "GOOGLE_GEMINI_BASE_URL": rehearsal.url,
        "COGNITION_DELEGATE_MAX_CALLS": "50",
        "COGNITION_CONTEXT_TOKENS": "200000",
    }
    server = DevServer({**environment, **given}, folder / "server.log")
    yield server
    server.close()


def test_p1_p2_no_signature_is_lost_or_made_up_through_the_server(
    rehearsal: RehearsalServer, server: DevServer
) -> None:
    context = {"user_id": "ada"}
    Table(rehearsal, say=lambda who, when: opinion(f"Opinion {who}.", thought="Let me see.", chunks=3))
    with server.start() as client:
        thread = client.threads.create()["thread_id"]
        held: Any = client.runs.wait(None, "council", input=question(5), context=context)
        assert "5 of 5 participants answered; 3 of 3 rounds were held" in held["report"]
        assert [request.skip_markers for request in rehearsal.requests] == [0] * (5 * 3 + 1)
        rehearsal.requests.clear()
        rehearsal.script(LITE, lite)
        rehearsal.script(FLASH, flash)
        told: Any = client.runs.wait(thread, "delegation", input={"task": "First"}, context=context)
        assert told["outcome"]["text"] == "First answer."
    server.stop(signal.SIGTERM)
    with server.start() as client:
        told = client.runs.wait(thread, "delegation", input={"task": "Second"}, context=context)
        assert told["outcome"]["text"] == "Second answer."
    assert_signatures_are_whole(rehearsal)
