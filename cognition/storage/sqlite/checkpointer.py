"""Threads in SQLite: durable at every step, and growing no faster than what is said in them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # what a delta channel leaves in a checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from cognition.concurrency.tasks import uninterruptible, wait_despite_cancel
from cognition.settings import process_settings
from cognition.storage.sqlite.serializer import thread_serializer

FILE = "threads.sqlite"
BUSY_SECONDS = 30
"""How long a writer waits for another process's transaction."""

TURNS_KEPT = 5
"""The turns that time travel reaches for certain; it reaches ten to twenty in a chat without tools."""

# A checkpoint that counts updates since a snapshot is rebuilt from its parent's writes; any other is whole.
# Writes may be stored before their checkpoint, so those of no checkpoint are left alone.
FORGET = """
WITH RECURSIVE
mine AS MATERIALIZED (
    SELECT checkpoint_id, parent_checkpoint_id, {doomed} AS doomed,
        json_extract(CAST(metadata AS TEXT), '$.counters_since_delta_snapshot') IS NOT NULL AS rebuilt
    FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :namespace
),
needed AS (
    SELECT * FROM mine WHERE NOT doomed
    UNION
    SELECT mine.* FROM needed JOIN mine ON mine.checkpoint_id = needed.parent_checkpoint_id
    WHERE needed.rebuilt
)
DELETE FROM {table} WHERE thread_id = :thread AND checkpoint_ns = :namespace
    AND checkpoint_id IN (SELECT checkpoint_id FROM mine WHERE doomed)
    AND checkpoint_id NOT IN (SELECT checkpoint_id FROM needed)
"""

OLDER_THAN_THE_TURNS_KEPT = """checkpoint_id < coalesce((
    SELECT checkpoint_id FROM checkpoints
    WHERE thread_id = :thread AND checkpoint_ns = :namespace
        AND json_extract(CAST(metadata AS TEXT), '$.source') = 'input'
    ORDER BY checkpoint_id DESC LIMIT 1 OFFSET :turns - 1), '')"""
NOT_THE_NEWEST = """checkpoint_id < (
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :namespace)"""
OF_THE_RUN = "json_extract(CAST(metadata AS TEXT), '$.run_id') IS :run"


class ThreadSaver(AsyncSqliteSaver):
    """A saver whose file grows linearly with the turns of a thread.

    Messages sit on a delta channel: a checkpoint holds only what was added, and now and then a snapshot of
    the whole. At each snapshot the checkpoints older than the newest turns are deleted, but for those that
    a remaining one is rebuilt from. Every deletion here keeps to that, so no state ever loses a message.

    What is begun is done to its end, also when the run is cancelled: a transaction that was left open would
    lock every other connection out of the file.
    """

    def __init__(self, conn: aiosqlite.Connection, *, serde: SerializerProtocol) -> None:
        super().__init__(conn, serde=serde)
        self._writing: set[asyncio.Future[None]] = set()

    @uninterruptible
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; after a snapshot, delete what no kept turn needs any more."""
        async with self._undone():
            saved = await super().aput(config, checkpoint, metadata, new_versions)
        if any(isinstance(value, _DeltaSnapshot) for value in checkpoint["channel_values"].values()):
            place = saved["configurable"]
            async with self._transaction():
                await self._forget(
                    place["thread_id"], place["checkpoint_ns"], OLDER_THAN_THE_TURNS_KEPT, turns=TURNS_KEPT
                )
        return saved

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what a step has written before its checkpoint."""
        writing = asyncio.ensure_future(self._put_writes(config, writes, task_id, task_path))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await wait_despite_cancel(writing)

    @uninterruptible
    async def written(self) -> None:
        """Wait for the writes that were begun: a cancelled run waits for none of those of its last steps."""
        if self._writing:
            await asyncio.wait(list(self._writing))

    async def _put_writes(self, *given: Any) -> None:
        async with self._undone():
            await super().aput_writes(*given)

    @uninterruptible
    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all of a thread."""
        async with self._undone():
            await super().adelete_thread(thread_id)

    @uninterruptible
    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete whole threads (`delete`), or all that their newest state can do without (`keep_latest`)."""
        await self.setup()
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
                continue
            async with self._transaction():
                for _, namespace in await self._places("thread_id = ?", thread_id):
                    await self._forget(thread_id, namespace, NOT_THE_NEWEST)

    @uninterruptible
    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with everything that its states are rebuilt from."""
        await self.setup()
        async with self._transaction():
            for table in ("checkpoints", "writes"):
                described = await self.conn.execute_fetchall(f"PRAGMA table_info({table})")
                columns = ", ".join(row[1] for row in described if row[1] != "thread_id")
                await self.conn.execute(
                    f"INSERT OR REPLACE INTO {table} (thread_id, {columns}) "
                    f"SELECT ?, {columns} FROM {table} WHERE thread_id = ?",
                    (target_thread_id, source_thread_id),
                )

    @uninterruptible
    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of runs, but for those that other runs' messages are built on."""
        await self.setup()
        async with self._transaction():
            for run_id in run_ids:
                of_the_run = OF_THE_RUN.replace(":run", "?")
                for thread_id, namespace in await self._places(of_the_run, run_id):
                    await self._forget(thread_id, namespace, OF_THE_RUN, run=run_id)

    async def _forget(self, thread_id: str, namespace: str, doomed: str, **values: object) -> None:
        """Delete the doomed checkpoints and their writes, but for those that the others are rebuilt from."""
        place = {"thread": str(thread_id), "namespace": namespace, **values}
        for table in ("writes", "checkpoints"):  # in this order: what is doomed is read from the checkpoints
            await self.conn.execute(FORGET.format(doomed=doomed, table=table), place)

    async def _places(self, condition: str, value: str) -> list[tuple[str, str]]:
        """The threads and namespaces that have checkpoints of a kind."""
        sql = f"SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints WHERE {condition}"
        return [(row[0], row[1]) for row in await self.conn.execute_fetchall(sql, (value,))]

    @asynccontextmanager
    async def _undone(self) -> AsyncIterator[None]:
        """Undo what the saver beneath has begun and could not store, such as on a full disk."""
        try:
            yield
        except sqlite3.Error:
            async with self.lock:
                await self.conn.rollback()
            raise

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        """All or nothing."""
        async with self.lock:
            try:
                await self.conn.execute("BEGIN IMMEDIATE")  # Python begins none by itself for WITH … DELETE
                yield
                await self.conn.commit()
            except BaseException:
                await self.conn.rollback()
                raise


@asynccontextmanager
async def open_checkpointer(home: Path) -> AsyncIterator[ThreadSaver]:
    """The threads of a folder. Several processes may hold them open at once.

    Args:
        home: The folder; made if it isn't there.
    """
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    async with aiosqlite.connect(home / FILE, timeout=BUSY_SECONDS) as connection:
        saver = ThreadSaver(connection, serde=thread_serializer())
        await saver.setup()
        # With a write-ahead log this loses nothing when the process is killed, and costs a third.
        await connection.execute("PRAGMA synchronous=NORMAL")
        await connection.execute("PRAGMA wal_autocheckpoint=250")  # pages: a log of 1 MB beside the file,
        await connection.execute("PRAGMA journal_size_limit=1000000")  # and no more after a large snapshot
        yield saver


@asynccontextmanager
async def checkpointer() -> AsyncIterator[ThreadSaver]:
    """The threads of this process's folder, as `langgraph.json` names them."""
    async with open_checkpointer(process_settings().home) as saver:
        yield saver
