"""The rehearsal server in its own process, so that its CPU time is not counted as the client's."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from cognition.rehearsal import Call, RehearsalServer, Reply, Request

STEPS = re.compile(r"Take (\d+) steps")
TEXT = "A short answer that says what was asked. " * 5
OPINION = "An argument that weighs what was said, and comes to something. " * 35
POSITION = '{"stance": "Yes", "position": "Yes, with care.", "confidence": 70}'


def reply(request: Request) -> Reply:
    """Return tool calls if the question asks for them, a stance for a council's expert, else a text."""
    if steps := STEPS.search(request.texts[0]):
        done = sum("functionResponse" in content["parts"][0] for content in request.body["contents"])
        return Reply(calls=[Call("query_registry")]) if done < int(steps[1]) else Reply(text=TEXT)
    if "tool" in request.texts[-1] and "search_meta_artifacts" in request.tools and not request.responses:
        return Reply(calls=[Call("search_meta_artifacts", {"query": "tea"})])
    if "<expertise" in request.system:
        return Reply(text=f"{OPINION}\n\n{POSITION}")
    return Reply(text=TEXT)


@contextmanager
def model_server(latency: float = 0.0) -> Iterator[str]:
    """Run a server for the duration of the block and yield its URL.

    Args:
        latency: Seconds before each reply.
    """
    command = [sys.executable, "-m", "bench.model_server", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


if __name__ == "__main__":
    models = ("gemini-3.5-flash-lite", "gemini-3.8-flash", "gemini-3.1-pro-preview")
    wait = float(sys.argv[1])
    with RehearsalServer(dict.fromkeys(models, lambda r: replace(reply(r), latency=wait))) as server:
        print(server.url, flush=True)
        sys.stdin.read()
