"""The graphs on `langgraph dev`, as Studio, the SDK and the command line use them."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from apps.cli.client.chat_ids import thread_of
from cognition.rehearsal import NOTICE

ROOT = Path(__file__).parents[2]
LANGGRAPH = Path(sys.executable).with_name("langgraph")


class DevServer:
    """`langgraph dev` in its own folder; tests can restart it."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = environment
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> SyncLangGraphClient:
        command = [str(LANGGRAPH), "dev", "--no-browser", "--no-reload", "--n-jobs-per-worker", "10"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port)],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = monotonic() + 60
        with httpx.Client(transport=httpx.HTTPTransport(retries=3), base_url=self.url) as http:
            while monotonic() < deadline and self._process.poll() is None:
                try:
                    if http.get("/cognition/health").is_success:
                        return get_sync_client(url=self.url)
                except httpx.TransportError:
                    continue
        raise AssertionError(self.log.read_text()[-3000:])

    def stop(self, how: signal.Signals) -> int:
        assert self._process
        os.killpg(self._process.pid, how)
        code = self._process.wait(30)
        self._process = None
        return code

    def close(self) -> None:
        if self._process:
            self.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def server(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    server = DevServer(environment, tmp_path_factory.mktemp("log") / "server.log")
    yield server
    server.close()


@pytest.fixture(scope="module")
def client(server: DevServer) -> SyncLangGraphClient:
    return server.start()


@pytest.fixture
def cognition(environment: dict[str, str]) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    code = "from apps.cli.main import app; app()"

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    return run


def say(client: SyncLangGraphClient, thread: str, text: str, user: str = "ada") -> list[tuple[str, object]]:
    stream = client.runs.stream(
        thread,
        "echo",
        input={"messages": [{"role": "user", "content": text}]},
        context={"user_id": user},
        stream_mode=["messages-tuple", "custom", "values"],
    )
    return [(part.event, part.data) for part in stream]


def newest(client: SyncLangGraphClient, thread: str) -> str:
    values = client.threads.get_state(thread)["values"]
    return str(values["messages"][-1]["content"])  # type: ignore[call-overload]


def test_the_graph_is_drawn_with_its_three_levels(client: SyncLangGraphClient) -> None:
    assistant = client.assistants.search(graph_id="echo")[0]
    drawn = client.assistants.get_graph(assistant["assistant_id"])
    assert {"think_lite", "think_flash", "think_pro"} <= {str(node["id"]) for node in drawn["nodes"]}
    form = client.assistants.get_schemas(assistant["assistant_id"])["context_schema"]
    assert set(form["properties"]) == {"user_id", "user_name", "policy", "memory"}  # type: ignore[index]


def test_the_start_says_that_the_models_are_rehearsed(server: DevServer) -> None:
    assert server.log.read_text().count(NOTICE) == 1


def test_a_turn_streams(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    parts = say(client, thread, "think harder about chess")
    events = [data for event, data in parts if event == "custom"]
    assert {"type": "level", "from": "MODEL_LITE", "to": "MODEL_PRO"} in events
    assert len([event for event, _ in parts if event == "messages"]) > 1
    assert "Continuing as gemini-3.1-pro-preview" in newest(client, thread)


def test_files_are_ingested_and_their_contents_are_not_kept_in_the_thread(
    client: SyncLangGraphClient, environment: dict[str, str]
) -> None:
    assistant = client.assistants.search(graph_id="ingestion")[0]
    drawn = client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert {"ingest_file:extract", "ingest_file:sum_up"} <= {str(node["id"]) for node in drawn["nodes"]}
    thread, secret = client.threads.create()["thread_id"], "The harbour froze. " * 40
    files = [{"name": "a.md", "data": b64encode(secret.encode()).decode()}, {"path": "/etc/passwd"}]
    ran = client.runs.wait(
        thread, "ingestion", input={"files": files}, context={"user_id": "ada"}, durability="exit"
    )
    taken, refused = cast("Any", ran)["report"]
    assert (taken["status"], refused["status"]) == ("PUT_IN_CONTEXT", "FAILED"), taken["error"]
    assert "COGNITION_FILE_ROOTS" in refused["error"]
    with closing(sqlite3.connect(Path(environment["COGNITION_HOME"]) / "threads.sqlite")) as threads:
        kept = threads.execute("SELECT checkpoint FROM checkpoints WHERE thread_id = ?", [thread]).fetchall()
    assert kept
    assert not any(files[0]["data"].encode() in row[0] for row in kept)


def test_a_sub_agent_is_a_graph_of_its_own(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    outcomes = [
        cast("Any", client.runs.wait(thread, "delegation", input={"task": task}))["outcome"]
        for task in ("plan a trip, and ask me where to go", "To Brest")
    ]
    assert [outcome["status"] for outcome in outcomes] == ["pending_question", "success"]
    assert "You answered: To Brest" in outcomes[1]["text"]


def test_p47_a_blank_user_is_refused(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    errors = [data for event, data in say(client, thread, "hello", user=" ") if event == "error"]
    assert "Invalid user" in str(errors)


def test_the_command_line_goes_through_the_server(
    client: SyncLangGraphClient,
    server: DevServer,
    cognition: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    say(client, client.threads.create()["thread_id"], "remember that I play the oboe")
    listed = cognition("memory", "list", "--user", "ada", "--json")
    facts = {m["memory_id"]: m["fact"] for m in json.loads(listed.stdout)["memories"]}
    assert list(facts.values()) == ["I play the oboe"], listed.stderr
    told = json.loads(cognition("ask", "hello", "--user", "eve", "--chat", "work", "--json").stdout)
    assert told["chat_name"] == "work"
    assert told["level"] == "MODEL_LITE"
    assert cognition("sessions", "list", "--user", "eve").stdout.startswith("work · ")
    refused = cognition("ask", "hello", "--user", " ")
    assert (refused.returncode, "not blank" in refused.stderr) == (1, True)
    assert "Traceback" not in refused.stderr
    doctor = cognition("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert server.url in doctor.stdout
    assert cognition("memory", "delete", "no/such id", "--user", "ada").returncode == 1
    assert cognition("memory", "delete", next(iter(facts)), "--user", "ada").returncode == 0
    assert cognition("memory", "list", "--user", "ada").stdout == "No memories yet.\n"


def test_files_on_the_command_line_go_through_the_server(
    client: SyncLangGraphClient,
    cognition: Callable[..., "subprocess.CompletedProcess[str]"],
    tmp_path: Path,
) -> None:
    (tmp_path / "note.md").write_text("The spare key hangs behind the tide table.")
    log = [f"Entry {n}: the valve of tank {n} opens at {n * 7} bar.\n" for n in range(800)]
    (tmp_path / "valves.log").write_text("".join(log))
    own = ("--user", "ada", "--chat", "plant", "--json")
    ran = cognition("ingest", str(tmp_path), "--recursive", *own)
    assert ran.returncode == 0, ran.stderr
    status = {row["name"]: row["status"] for row in json.loads(ran.stdout)["resources"]}
    assert status == {"note.md": "PUT_IN_CONTEXT", "valves.log": "VECTORIZED_SUM_UP"}
    asked = ("ask", "at how many bar opens the valve of tank 42?", "--file", str(tmp_path / "note.md"))
    assert "opens at 294 bar" in json.loads(cognition(*asked, *own).stdout)["answer"]
    thread = thread_of("ada", "plant")
    said = client.threads.get_state(thread)["values"]["messages"][0]  # type: ignore[call-overload]
    assert "note.md" in str(said)
    assert "tide table" not in str(said)
    closed = json.loads(cognition("sessions", "close", "plant", "--user", "ada", "--json").stdout)
    assert closed["resources"] == 2


def test_a_council_is_held_with_a_branch_for_each_participant(
    client: SyncLangGraphClient, cognition: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    seated = "architect,devils-advocate,operations-engineer"
    asked = {"question": "Split the monolith?", "participants": seated, "rounds": 2}
    modes = ["updates", "custom", "messages-tuple"]
    stream = client.runs.stream(None, "council", input=asked, stream_mode=modes)  # type: ignore[arg-type]
    parts = [(part.event, part.data) for part in stream]
    updates = [data for event, data in parts if event == "updates"]
    assert [next(iter(update)) for update in updates].count("speak") == 6
    assert "signature" not in str([update for update in updates if "speak" in update])
    assert len([data for event, data in parts if event == "custom" and data["event"] == "spoke"]) == 6
    assert "3 of 3 participants answered; 2 of 2 rounds" in updates[-1]["synthesize"]["report"]
    assert cognition("ask", "remember that we are eleven people", "--chat", "crew").returncode == 0
    ran = cognition("council", "Split?", "--participants", seated, "--chat", "crew", "--json")
    told = json.loads(ran.stdout)
    assert (told["outcome"], told["rounds_held"], told["context"]) == ("synthesis", 3, "distilled")
    refused = cognition("council", "Split?", "--participants", "architect")
    assert (refused.returncode, "at least 2 different" in refused.stderr) == (1, True), refused.stderr
    assert refused.stderr.count("\n") == 1, "one sentence, as without a server"


def test_p74_threads_and_what_a_sub_agent_asked_outlive_a_kill(
    client: SyncLangGraphClient,
    server: DevServer,
    cognition: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    thread, asking = str(uuid4()), str(uuid4())
    for new in (thread, asking):
        client.threads.create(thread_id=new, graph_id="echo")
    say(client, thread, "remember that I live in Lyon", user="kim")
    parts = say(client, asking, "delegate: plan a trip, and ask me where to go", user="kim")
    told = [cast("Any", data) for event, data in parts if event == "custom"]
    assert [event["event"] for event in told if event["type"] == "delegation"] == ["started", "ended"]
    assert "QUESTION: where to go?" in newest(client, asking)
    client.close()
    server.stop(signal.SIGKILL)
    again = server.start()
    for new in (thread, asking):
        again.threads.create(thread_id=new, graph_id="echo", if_exists="do_nothing")
    say(again, thread, "what do you know about me?", user="kim")
    assert "I live in Lyon" in newest(again, thread)
    said = again.threads.get_state(thread)["values"]["messages"]  # type: ignore[call-overload]
    assert [m["content"] for m in said if m["type"] == "human"] == [
        "remember that I live in Lyon",
        "what do you know about me?",
    ]
    (agent,) = json.loads(cognition("agents", "list", "--user", "kim", "--json").stdout)["agents"]
    assert (agent["status"], agent["chat_id"]) == ("waiting", asking)
    say(again, asking, "To Brest", user="kim")
    assert "You answered: To Brest" in newest(again, asking)
    resumed = cognition("agents", "resume", agent["sub_sid"], "what do you know about me?", "--user", "kim")
    assert "I live in Lyon" in resumed.stdout, resumed.stderr
    assert f"{agent['sub_sid']}: search_meta_artifacts" in resumed.stderr
    assert cognition("agents", "close", agent["sub_sid"], "--user", "kim").returncode == 0
    again.close()
    assert server.stop(signal.SIGINT) == 0
