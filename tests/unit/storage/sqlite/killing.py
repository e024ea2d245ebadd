"""Kills a talking process before each SQL statement that writes, and lets another go on.

Run: python -m tests.unit.storage.sqlite.killing FOLDER BEFORE TURNS
A thread of BEFORE turns is talked on by TURNS turns; prints as JSON how many kills there were, the statements
they came before, and what the threads said that did not come out whole.
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
    """Go on in a process of its own; tells whether it came to its end, and the statement it was killed at."""
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

        said = asyncio.run(go_on(home, "t", turns, trace))
        os.write(writing, b"" if said == conversation(turns) else repr(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    return os.waitpid(process, 0)[1] == 0, told


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
        finished, said = forked(home, before + turns)
        if said or not finished:
            wrong.append(f"{statement} {len(killed)}: {said}")
    sys.stdout.write(json.dumps({"killed": killed, "wrong": wrong}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
