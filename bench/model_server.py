"""The rehearsal in a process of its own, so that its work is not counted as the client's."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from cognition.rehearsal import Call, RehearsalServer, Reply, Request

STEPS = re.compile(r"Take (\d+) steps")
TEXT = "A short answer that says what was asked. " * 5


def reply(request: Request) -> Reply:
    """A tool call where the question asks for one and none was made, or for so many; else a text."""
    if steps := STEPS.search(request.texts[0]):
        taken = sum("functionResponse" in content["parts"][0] for content in request.body["contents"])
        return Reply(calls=[Call("query_registry")]) if taken < int(steps[1]) else Reply(text=TEXT)
    if "tool" in request.texts[-1] and "search_meta_artifacts" in request.tools and not request.responses:
        return Reply(calls=[Call("search_meta_artifacts", {"query": "tea"})])
    return Reply(text=TEXT)


@contextmanager
def model_server() -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    command = [sys.executable, "-m", "bench.model_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


if __name__ == "__main__":
    models = ("gemini-3.5-flash-lite", "gemini-3.8-flash", "gemini-3.1-pro-preview")
    with RehearsalServer(dict.fromkeys(models, reply)) as server:
        print(server.url, flush=True)
        sys.stdin.read()
