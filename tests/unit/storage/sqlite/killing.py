"""Kills a chatting process before each SQL statement that writes, and lets another process continue.

Run: python -m tests.unit.storage.sqlite.killing FOLDER BEFORE TURNS
Continues a thread of BEFORE turns for TURNS turns. Prints JSON with the statements before which the process
was killed, and the messages of the threads that lost or duplicated any.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from re import compile as pattern

from tests.unit.storage.sqlite.chat import conversation, go_on

WRITES = pattern("BEGIN|INSERT|DELETE|COMMIT")


def forked(home: Path, turns: int, kill_at: int = 0) -> tuple[bool, str]:
    """Continue in a child process. Return True if it finished, and its output.

    The output is the statement at which it was killed, or the messages if they are wrong.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        seen = 0

        def trace(statement: str) -> None:
            nonlocal seen
            written = WRITES.search(statement)
            seen += bool(written)
            if written and seen == kill_at:
                os.write(writing, written[0].encode())
                os.kill(os.getpid(), signal.SIGKILL)

        messages = asyncio.run(go_on(home, "t", turns, trace))
        os.write(writing, b"" if messages == conversation(turns) else repr(messages).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        output = pipe.read()
    return os.waitpid(process, 0)[1] == 0, output


def main(folder: Path, before: int, turns: int) -> None:
    begun = folder / "begun"
    forked(begun, before)
    killed: list[str] = []
    wrong: list[str] = []
    while True:
        home = folder / str(len(killed))
        shutil.copytree(begun, home)
        finished, statement = forked(home, before + turns, kill_at=len(killed) + 1)
        if finished:
            break
        killed.append(statement)
        finished, output = forked(home, before + turns)
        if output or not finished:
            wrong.append(f"{statement} {len(killed)}: {output}")
    sys.stdout.write(json.dumps({"killed": killed, "wrong": wrong}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
