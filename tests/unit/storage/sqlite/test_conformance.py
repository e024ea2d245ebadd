from collections.abc import AsyncIterator
from pathlib import Path

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from cognition.storage.sqlite.checkpointer import ThreadSaver, open_checkpointer


async def test_the_saver_does_all_that_langgraph_asks_of_one(tmp_path: Path) -> None:
    files = iter(range(100))

    @checkpointer_test(name="threads")
    async def saver() -> AsyncIterator[ThreadSaver]:
        async with open_checkpointer(tmp_path / str(next(files))) as opened:
            yield opened

    report = await validate(saver)
    results = report.results
    assert [failure for result in results.values() for failure in result.failures] == []
    assert {name for name, result in results.items() if result.passed} == {c.value for c in Capability}
