"""LangGraph threads in SQLite: durable at every step, with storage that grows linearly."""

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
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # a snapshot in a delta channel
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from cognition.concurrency.tasks import uninterruptible, wait_despite_cancel
from cognition.settings import process_settings
from cognition.storage.sqlite.serializer import thread_serializer

FILE = "threads.sqlite"
BUSY_SECONDS = 30
"""Seconds to wait for another process's transaction before a write fails."""

TURNS_KEPT = 5
"""Minimum number of turns that time travel can go back; in a chat without tools it can go back 10 to 20."""

# A checkpoint whose metadata counts updates since a snapshot is rebuilt from its ancestors' writes; any other
# is complete by itself. Writes can be stored before their checkpoint, so writes without one are kept.
DELETE_CHECKPOINTS = """
WITH RECURSIVE
of_thread AS MATERIALIZED (
    SELECT checkpoint_id, parent_checkpoint_id, {deletable} AS deletable,
        json_extract(CAST(metadata AS TEXT), '$.counters_since_delta_snapshot') IS NOT NULL AS rebuilt
    FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :namespace
),
needed AS (
    SELECT * FROM of_thread WHERE NOT deletable
    UNION
    SELECT of_thread.* FROM needed JOIN of_thread ON of_thread.checkpoint_id = needed.parent_checkpoint_id
    WHERE needed.rebuilt
)
DELETE FROM {table} WHERE thread_id = :thread AND checkpoint_ns = :namespace
    AND checkpoint_id IN (SELECT checkpoint_id FROM of_thread WHERE deletable)
    AND checkpoint_id NOT IN (SELECT checkpoint_id FROM needed)
"""

OLDER_THAN_TURNS_KEPT = """checkpoint_id < coalesce((
    SELECT checkpoint_id FROM checkpoints
    WHERE thread_id = :thread AND checkpoint_ns = :namespace
        AND json_extract(CAST(metadata AS TEXT), '$.source') = 'input'
    ORDER BY checkpoint_id DESC LIMIT 1 OFFSET :turns - 1), '')"""
NOT_LATEST = """checkpoint_id < (
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :namespace)"""
OF_RUN = "json_extract(CAST(metadata AS TEXT), '$.run_id') IS :run"


class ThreadSaver(AsyncSqliteSaver):
    """A checkpointer whose file grows linearly with the turns of a thread.

    Messages use a delta channel: a checkpoint stores only the new messages and, at intervals, a snapshot of
    all of them. At each snapshot, checkpoints older than the last `TURNS_KEPT` turns are deleted, except
    those that a remaining checkpoint is rebuilt from. Every deletion here follows this rule, so no remaining
    state loses a message.

    Operations finish even if the run is cancelled: a transaction left open would lock every other connection
    out of the file.
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
        """Save a checkpoint. After a snapshot, delete the checkpoints that no kept turn needs."""
        async with self._rollback_on_error():
            saved = await super().aput(config, checkpoint, metadata, new_versions)
        if any(isinstance(value, _DeltaSnapshot) for value in checkpoint["channel_values"].values()):
            keys = saved["configurable"]
            async with self._transaction():
                await self._delete_checkpoints(
                    keys["thread_id"], keys["checkpoint_ns"], OLDER_THAN_TURNS_KEPT, turns=TURNS_KEPT
                )
        return saved

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save the writes of a step, before its checkpoint is saved."""
        writing = asyncio.ensure_future(self._put_writes(config, writes, task_id, task_path))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await wait_despite_cancel(writing)

    @uninterruptible
    async def wait_for_writes(self) -> None:
        """Wait for pending writes: a cancelled run does not wait for the writes of its last steps."""
        if self._writing:
            await asyncio.wait(list(self._writing))

    async def _put_writes(self, *arguments: Any) -> None:
        async with self._rollback_on_error():
            await super().aput_writes(*arguments)

    @uninterruptible
    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread with all its checkpoints and writes."""
        async with self._rollback_on_error():
            await super().adelete_thread(thread_id)

    @uninterruptible
    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads (`delete`), or everything their latest state does not need (`keep_latest`)."""
        await self.setup()
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
                continue
            async with self._transaction():
                for _, namespace in await self._namespaces("thread_id = ?", thread_id):
                    await self._delete_checkpoints(thread_id, namespace, NOT_LATEST)

    @uninterruptible
    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with all its checkpoints and writes."""
        await self.setup()
        async with self._transaction():
            for table in ("checkpoints", "writes"):
                table_info = await self.conn.execute_fetchall(f"PRAGMA table_info({table})")
                columns = ", ".join(row[1] for row in table_info if row[1] != "thread_id")
                await self.conn.execute(
                    f"INSERT OR REPLACE INTO {table} (thread_id, {columns}) "
                    f"SELECT ?, {columns} FROM {table} WHERE thread_id = ?",
                    (target_thread_id, source_thread_id),
                )

    @uninterruptible
    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of runs, except those that checkpoints of other runs are rebuilt from."""
        await self.setup()
        async with self._transaction():
            for run_id in run_ids:
                of_run = OF_RUN.replace(":run", "?")
                for thread_id, namespace in await self._namespaces(of_run, run_id):
                    await self._delete_checkpoints(thread_id, namespace, OF_RUN, run=run_id)

    async def _delete_checkpoints(
        self, thread_id: str, namespace: str, deletable: str, **values: object
    ) -> None:
        """Delete the matching checkpoints and their writes, except those that others are rebuilt from."""
        parameters = {"thread": str(thread_id), "namespace": namespace, **values}
        for table in ("writes", "checkpoints"):  # writes first: the query for them reads the checkpoints
            await self.conn.execute(DELETE_CHECKPOINTS.format(deletable=deletable, table=table), parameters)

    async def _namespaces(self, condition: str, value: str) -> list[tuple[str, str]]:
        """Return the (thread, namespace) pairs that have checkpoints matching a condition."""
        sql = f"SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints WHERE {condition}"
        return [(row[0], row[1]) for row in await self.conn.execute_fetchall(sql, (value,))]

    @asynccontextmanager
    async def _rollback_on_error(self) -> AsyncIterator[None]:
        """Roll back what the base class could not store, for example because the disk is full."""
        try:
            yield
        except sqlite3.Error:
            async with self.lock:
                await self.conn.rollback()
            raise

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        """Run the block in a transaction."""
        async with self.lock:
            try:
                await self.conn.execute("BEGIN IMMEDIATE")  # Python does not open one for WITH … DELETE
                yield
                await self.conn.commit()
            except BaseException:
                await self.conn.rollback()
                raise


@asynccontextmanager
async def open_checkpointer(home: Path) -> AsyncIterator[ThreadSaver]:
    """Open the checkpointer of a home folder. Several processes can have it open at once.

    Args:
        home: The home folder; created if missing.
    """
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    async with aiosqlite.connect(home / FILE, timeout=BUSY_SECONDS) as connection:
        saver = ThreadSaver(connection, serde=thread_serializer())
        await saver.setup()
        # With a write-ahead log this loses nothing if the process is killed, at a third of the cost of FULL.
        await connection.execute("PRAGMA synchronous=NORMAL")
        # 250 pages and 1,000,000 bytes both keep the log at about 1 MB, even after a large snapshot.
        await connection.execute("PRAGMA wal_autocheckpoint=250")
        await connection.execute("PRAGMA journal_size_limit=1000000")
        yield saver


@asynccontextmanager
async def checkpointer() -> AsyncIterator[ThreadSaver]:
    """Open the checkpointer of this process's home folder; named in `langgraph.json`."""
    async with open_checkpointer(process_settings().home) as saver:
        yield saver
