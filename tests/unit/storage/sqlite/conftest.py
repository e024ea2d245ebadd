from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognition.storage.sqlite.checkpointer import ThreadSaver, open_checkpointer


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[ThreadSaver]:
    async with open_checkpointer(tmp_path) as saver:
        yield saver
