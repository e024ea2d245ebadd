"""Tests of the vector folder with several processes, crashes and embedding models."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cognition.embedding import Stamp
from cognition.memory.long_term.memory import collection_spec
from cognition.services import Services
from cognition.storage.disk.folder_lock import FolderInUse, FolderLock, holder_of
from cognition.storage.disk.free_space import DiskFull
from cognition.text.language import detect_language
from cognition.vectors import CorruptStore, Filter, Point, SparseVector, StampMismatch, open_engine
from cognition.vectors.bm25 import document_terms, query_terms
from tests.unit.memory.conftest import stored
from tests.unit.memory.long_term.test_refusals import NAUGHTY

STAMP = Stamp("small", "1", 4)
ROOT = Path(__file__).parents[3]

WRITER = """
import asyncio, sys
from itertools import count
from pathlib import Path
from cognition.memory.long_term.memory import collection_spec
from cognition.vectors import open_engine
from tests.unit.vectors.test_folder import STAMP, point

async def main():
    engine = open_engine(Path(sys.argv[1]), "http://127.0.0.1:2024")
    collection = await engine.collection(collection_spec(STAMP))
    for number in count():
        await collection.upsert([point(f"fact {number}")])
        print(number, flush=True)

asyncio.run(main())
"""


def point(fact: str) -> Point:
    memory = stored(fact)
    return Point(
        memory.point_id, np.full(4, 0.5, dtype=np.float32), SparseVector((1,), (1.0,)), memory.payload()
    )


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that writes facts to the folder and prints the number of each stored one."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


async def test_p43_a_second_process_learns_the_lock_holder_and_a_kill_loses_no_write(
    writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert writer.stdout
    acknowledged = [writer.stdout.readline() for _ in range(50)]
    with pytest.raises(FolderInUse) as error:
        await asyncio.to_thread(open_engine, tmp_path)
    for detail in (str(writer.pid), "http://127.0.0.1:2024", "COGNITION_HOME", str(tmp_path)):
        assert detail in str(error.value)
    holder = await asyncio.to_thread(holder_of, tmp_path)
    assert holder
    assert holder.pid == writer.pid
    acknowledged += [writer.stdout.readline() for _ in range(50)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += writer.stdout.read().splitlines(keepends=True)
    numbers = [int(line) for line in acknowledged if line.endswith("\n")]
    assert await asyncio.to_thread(holder_of, tmp_path) is None
    engine = await asyncio.to_thread(open_engine, tmp_path)
    collection = await engine.collection(collection_spec(STAMP))
    points = [point(f"fact {number}") for number in numbers]
    assert len(await collection.retrieve("ada", [p.id for p in points])) == len(points) >= 100
    assert await collection.count(Filter("ada")) >= len(points)
    await engine.aclose()


@pytest.mark.parametrize("other", [Stamp("large", "1", 8), Stamp("other", "1", 4), Stamp("small", "2", 4)])
async def test_p40_vectors_of_another_model_are_rejected_and_kept(other: Stamp, tmp_path: Path) -> None:
    engine = await asyncio.to_thread(open_engine, tmp_path)
    collection = await engine.collection(collection_spec(STAMP))
    await collection.upsert([point("kept")])
    await engine.aclose()
    engine = await asyncio.to_thread(open_engine, tmp_path)
    with pytest.raises(StampMismatch, match=rf"'small' .*'{other.model}' .*cognition reembed"):
        await engine.collection(collection_spec(other))
    assert await (await engine.collection(collection_spec(STAMP))).count(Filter("ada")) == 1
    await engine.aclose()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("stamp.json", content) for content in (b"", b"\xff\xfe", b"[]", b'{"model": 1}')),
        ("shard/edge_config.json", b""),
        ("shard/wal/first-index", b""),
    ],
)
async def test_an_unreadable_file_is_reported_and_left_unchanged(
    name: str, content: bytes, tmp_path: Path
) -> None:
    engine = await asyncio.to_thread(open_engine, tmp_path)
    spec = collection_spec(STAMP)
    await engine.collection(spec)
    await engine.aclose()
    broken = tmp_path / "vectors" / spec.name / name
    broken.write_bytes(content)
    engine = await asyncio.to_thread(open_engine, tmp_path)
    with pytest.raises(CorruptStore, match=rf"Could not read the vectors in .*{spec.name}'"):
        await engine.collection(spec)
    await engine.aclose()
    assert broken.read_bytes() == content


async def test_a_full_disk_rejects_writes_that_would_kill_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await asyncio.to_thread(open_engine, tmp_path)
    collection = await engine.collection(collection_spec(STAMP))
    await collection.upsert([point("kept")])
    monkeypatch.setattr("cognition.storage.disk.free_space.MIN_FREE_BYTES", 1 << 62)
    kept = Filter("ada")
    for write in (
        collection.upsert([point("new")]),
        collection.delete(kept),
        collection.set_payload(kept, {"recall_count": 9}),
    ):
        with pytest.raises(DiskFull, match="MB free"):
            await write
    (record,) = await collection.retrieve("ada", [point("kept").id])
    assert record.payload["recall_count"] == 0
    await engine.aclose()
    engine = await asyncio.to_thread(open_engine, tmp_path)
    with pytest.raises(DiskFull, match="Free some space"):
        await engine.collection(collection_spec(STAMP))
    await engine.aclose()


@pytest.mark.parametrize("content", ["", "null", "[1]", "nonsense", '{"pid": "x"}'])
def test_p43_an_unknown_lock_holder_is_reported(content: str, tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        (tmp_path / "holder.json").write_text(content)
        with pytest.raises(FolderInUse, match="in use by process 0"):
            FolderLock(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
async def test_a_vector_with_a_non_finite_value_is_rejected(value: float, tmp_path: Path) -> None:
    engine = await asyncio.to_thread(open_engine, tmp_path)
    collection = await engine.collection(collection_spec(STAMP))
    good, bad = point("good"), point("bad")
    bad.dense[2] = value
    with pytest.raises(ValueError, match="expected 4 finite numbers"):
        await collection.upsert([good, bad])
    assert await collection.count(Filter("ada")) == 0, "a call stores all of its points or none"
    await engine.aclose()


async def test_p52_every_naughty_string_is_stored_found_and_counted_by_the_engine(tmp_path: Path) -> None:
    engine = await asyncio.to_thread(open_engine, tmp_path)
    collection = await engine.collection(collection_spec(STAMP))
    languages = await asyncio.to_thread(lambda: list(map(detect_language, NAUGHTY)))
    for number, (text, language) in enumerate(zip(NAUGHTY, languages, strict=True)):
        user = f"{number} {text}"
        memory = stored(text, user_id=user, memory_id="m", artifact_name=text, language=language, tags=[text])
        dense = np.full(4, 0.5, dtype=np.float32)
        await collection.upsert(
            [Point(memory.point_id, dense, document_terms(text, language), memory.payload())]
        )
        mine = Filter(user, equals={"artifact_name": text})
        scores = await collection.scores(mine, dense, query_terms(text, language, ("en", "fr", "zh")))
        assert [str(id_) for id_ in scores.ids] == [memory.point_id]
        assert await collection.facet(mine, "tags") == {text: 1}
    await engine.aclose()


async def test_memories_survive_a_restart(services: Services) -> None:
    memory = await services.memory()
    await memory.import_many([stored("I live in Lyon.", memory_id="home")])
    await services.aclose()
    reopened = await services.memory()
    assert [m.fact for m in await reopened.fetch("ada", ["home"])] == ["I live in Lyon."]
