"""Threads in SQLite: durable at every step, and growing no faster than what is said in them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # what a delta channel leaves in a checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from cognition.settings import process_settings

FILE = "threads.sqlite"
BUSY_SECONDS = 30
"""How long a writer waits for another process's transaction."""

BEFORE_BASE = """checkpoint_id < (
    SELECT checkpoint_id FROM checkpoints
    WHERE thread_id = ? AND checkpoint_ns = ? AND json_extract(metadata, '$.snapshot')
    ORDER BY checkpoint_id DESC LIMIT 1 OFFSET ?)"""
"""What lies before a thread's newest snapshot (offset 0) or the one before it (offset 1)."""


class ThreadSaver(AsyncSqliteSaver):
    """A saver whose file grows linearly with the turns of a thread.

    Messages sit on a delta channel: a checkpoint holds only what was added, and now and then a snapshot of
    the whole. Each snapshot makes all before the previous one unnecessary, and it is deleted then. What
    remains, between one and two snapshots' worth of turns, is the part of a thread that time travel reaches.
    """

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; after a snapshot, delete what no checkpoint needs any more."""
        if not any(isinstance(value, _DeltaSnapshot) for value in checkpoint["channel_values"].values()):
            return await super().aput(config, checkpoint, metadata, new_versions)
        marked: CheckpointMetadata = {**metadata, "snapshot": True}  # type: ignore[typeddict-unknown-key]
        saved = await super().aput(config, checkpoint, marked, new_versions)
        place = saved["configurable"]
        await self._forget_before_snapshot(place["thread_id"], place["checkpoint_ns"], offset=1)
        return saved

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete whole threads (`delete`), or all that their newest state can do without (`keep_latest`)."""
        await self.setup()
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
                continue
            for namespace in await self._namespaces(thread_id):
                if await self._has_snapshots(thread_id, namespace):
                    await self._forget_before_snapshot(thread_id, namespace, offset=0)
                elif not await self._has_deltas(thread_id, namespace):
                    await self._keep_newest(thread_id, namespace)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with everything that its state is built from."""
        await self.setup()
        async with self.lock:
            for table in ("checkpoints", "writes"):
                columns = await self._columns(table)
                kept = ", ".join(columns)
                await self.conn.execute(
                    f"INSERT OR REPLACE INTO {table} (thread_id, {kept}) "
                    f"SELECT ?, {kept} FROM {table} WHERE thread_id = ?",
                    (target_thread_id, source_thread_id),
                )
            await self.conn.commit()

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of runs, but for those that later messages are built on."""
        await self.setup()
        async with self.lock:
            for run_id in run_ids:
                rows = await self.conn.execute_fetchall(
                    "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints AS mine "
                    "WHERE json_extract(metadata, '$.run_id') = ? AND NOT EXISTS (SELECT 1 FROM checkpoints "
                    "AS later WHERE later.thread_id = mine.thread_id AND later.checkpoint_ns = "
                    "mine.checkpoint_ns AND later.checkpoint_id > mine.checkpoint_id AND "
                    "json_extract(later.metadata, '$.run_id') IS NOT ? AND "
                    "json_extract(later.metadata, '$.counters_since_delta_snapshot') IS NOT NULL)",
                    (run_id, run_id),
                )
                for table in ("checkpoints", "writes"):
                    await self.conn.executemany(
                        f"DELETE FROM {table} "
                        "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
                        [tuple(row) for row in rows],
                    )
            await self.conn.commit()

    async def _forget_before_snapshot(self, thread_id: str, namespace: str, *, offset: int) -> None:
        place = (thread_id, namespace)
        async with self.lock:
            for table in ("writes", "checkpoints"):
                await self.conn.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND {BEFORE_BASE}",
                    (*place, *place, offset),
                )
            await self.conn.commit()

    async def _keep_newest(self, thread_id: str, namespace: str) -> None:
        place = (thread_id, namespace)
        newest = "(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?)"
        async with self.lock:
            for table in ("writes", "checkpoints"):
                await self.conn.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? "
                    f"AND checkpoint_id < {newest}",
                    (*place, *place),
                )
            await self.conn.commit()

    async def _namespaces(self, thread_id: str) -> list[str]:
        sql = "SELECT DISTINCT checkpoint_ns FROM checkpoints WHERE thread_id = ?"
        return [row[0] for row in await self.conn.execute_fetchall(sql, (thread_id,))]

    async def _has_snapshots(self, thread_id: str, namespace: str) -> bool:
        return await self._any_with("$.snapshot", thread_id, namespace)

    async def _has_deltas(self, thread_id: str, namespace: str) -> bool:
        return await self._any_with("$.counters_since_delta_snapshot", thread_id, namespace)

    async def _any_with(self, path: str, thread_id: str, namespace: str) -> bool:
        sql = (
            "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? "
            "AND json_extract(metadata, ?) IS NOT NULL LIMIT 1"
        )
        return bool(await self.conn.execute_fetchall(sql, (thread_id, namespace, path)))

    async def _columns(self, table: str) -> list[str]:
        rows = await self.conn.execute_fetchall(f"PRAGMA table_info({table})")
        return [row[1] for row in rows if row[1] != "thread_id"]


@asynccontextmanager
async def open_checkpointer(home: Path) -> AsyncIterator[ThreadSaver]:
    """The threads of a folder. Several processes may hold them open at once.

    Args:
        home: The folder; made if it isn't there.
    """
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    async with aiosqlite.connect(home / FILE, timeout=BUSY_SECONDS) as connection:
        # Strict: a thread holds messages and plain JSON values, and nothing else is ever built from one.
        saver = ThreadSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        await saver.setup()
        # With a write-ahead log this loses nothing when the process is killed, and costs a third.
        await connection.execute("PRAGMA synchronous=NORMAL")
        await connection.execute("PRAGMA wal_autocheckpoint=500")  # pages: a log of 2 MB beside the file
        yield saver


@asynccontextmanager
async def checkpointer() -> AsyncIterator[ThreadSaver]:
    """The threads of this process's folder, as `langgraph.json` names them."""
    async with open_checkpointer(process_settings().home) as saver:
        yield saver
