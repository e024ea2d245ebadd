"""A process that saves to session memory until the test kills it.

Run: python -m tests.unit.memory.session.killing_saves FOLDER
The source `fruit` alternates between two texts while a large source is embedded in the background. Prints the
number of each completed save.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from cognition.memory.session import saver as saving
from cognition.services import Services
from cognition.settings import Settings


def text_of(number: int) -> str:
    name = ("apple", "pear")[number % 2]
    return "\n\n".join(f"The {name} of row {row} weighs {row * 7} grams on the scale." for row in range(30))


def large() -> str:
    return "\n\n".join(f"Line {row} of the large text is about the number {row}." for row in range(900))


async def main(home: Path) -> None:
    saving.LARGE = 20_000  # type: ignore[misc]
    session = await Services(Settings(home=home)).session()
    await session.save("ada", "c", "large", large())
    for number in count():
        await session.save("ada", "c", "fruit", text_of(number))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
