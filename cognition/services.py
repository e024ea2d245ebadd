"""The stores and models of a process, each created on first use."""

import asyncio
from collections.abc import Callable
from functools import cached_property, lru_cache
from threading import RLock
from typing import Generic, TypeVar

from cognition.concurrency.exclusive_runs import ExclusiveRuns
from cognition.concurrency.jobs import Jobs
from cognition.concurrency.locks import KeyedLocks
from cognition.embedding import load_embedder
from cognition.memory.long_term.store import LongTermMemory
from cognition.memory.session.store import SessionMemory
from cognition.models.client import Models
from cognition.settings import Settings, process_settings
from cognition.storage.agent_threads import AgentThreadTable
from cognition.storage.files import Files
from cognition.storage.resources import ResourceTable
from cognition.storage.sqlite.checkpointer import ThreadSaver
from cognition.storage.sqlite.checkpointers import CheckpointerPool
from cognition.storage.sqlite.database import Database
from cognition.vectors import VectorEngine, open_engine

T = TypeVar("T")


class _Lazy(Generic[T]):
    """A store that is opened in a worker thread on first use.

    Args:
        build: Function that opens the store. Blocking.
        opening: The lock shared by all stores of the process, since steps may run on several event loops.
    """

    def __init__(self, build: Callable[[], T], opening: RLock) -> None:
        self._build = build
        self._opening = opening
        self.opened: T | None = None

    async def get(self) -> T:
        """Return the store, opening it in a worker thread if necessary."""
        return self.opened if self.opened is not None else await asyncio.to_thread(self.open)

    def open(self) -> T:
        """Return the store, opening it if necessary. Blocking."""
        with self._opening:
            if self.opened is None:
                self.opened = self._build()
            return self.opened


class Services:
    """The stores and models used by the graphs. Each is opened or loaded on first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._engine: VectorEngine | None = None
        self._savers = CheckpointerPool(settings.home)
        self._opening = RLock()
        self._memory = _Lazy(self._open_memory, self._opening)
        self._session = _Lazy(self._open_session, self._opening)
        self._database = _Lazy(lambda: Database(settings.home), self._opening)
        self._registry = _Lazy(lambda: ResourceTable(self._database.open()), self._opening)
        self._threads = _Lazy(self._open_threads, self._opening)

    @cached_property
    def jobs(self) -> Jobs:
        """The background jobs that continue after a run."""
        return Jobs()

    @cached_property
    def models(self) -> Models:
        """The chat models of all levels."""
        return Models(self.settings)

    def hold(self, url: str = "") -> VectorEngine:
        """Lock the home folder, so that no other process can open its vectors. Blocking.

        Args:
            url: The URL of this process's HTTP API, recorded for processes that find the folder locked.

        Raises:
            FolderInUse: If another process holds the lock.
        """
        with self._opening:
            if self._engine is None:
                self._engine = open_engine(self.settings.home, url)
            return self._engine

    async def memory(self) -> LongTermMemory:
        """Return the long-term memory in the home folder.

        Raises:
            FolderInUse: If another process holds the lock on the home folder.
            StampMismatch: If the stored vectors were created with another embedding model.
        """
        return await self._memory.get()

    def _open_memory(self) -> LongTermMemory:
        embedder = load_embedder(self.settings.memory_embedding, self.settings.home)
        return asyncio.run(LongTermMemory.open(self.hold(), embedder, self.settings, self.models))

    async def session(self) -> SessionMemory:
        """Return the session memory in the home folder.

        Raises:
            FolderInUse: If another process holds the lock on the home folder.
            StampMismatch: If the stored vectors were created with another embedding model.
        """
        return await self._session.get()

    def _open_session(self) -> SessionMemory:
        embedder = load_embedder(self.settings.session_embedding, self.settings.home)
        return asyncio.run(SessionMemory.open(self.hold(), embedder, self._database.open()))

    async def database(self) -> Database:
        """Return the SQLite database of the home folder, which several processes may have open."""
        return await self._database.get()

    async def registry(self) -> ResourceTable:
        """Return the registry of resources in the home folder."""
        return await self._registry.get()

    @cached_property
    def files(self) -> Files:
        """The stored copies of the chats' files."""
        return Files(self.settings.home)

    async def threads(self) -> AgentThreadTable:
        """Return the table of sub-agent threads; only the process that holds the lock may run sub-agents.

        Raises:
            FolderInUse: If another process holds the lock on the home folder.
        """
        return await self._threads.get()

    def _open_threads(self) -> AgentThreadTable:
        self.hold()
        return AgentThreadTable(self._database.open())

    @cached_property
    def agent_runs(self) -> ExclusiveRuns:
        """The running sub-agents, by thread; those of one chat form a group."""
        return ExclusiveRuns()

    @cached_property
    def closing(self) -> KeyedLocks:
        """Locks that prevent a session from being closed twice at the same time."""
        return KeyedLocks()

    async def checkpointer(self) -> ThreadSaver:
        """Return the checkpointer of the home folder for the running event loop."""
        return await self._savers.saver()

    def _await_opening(self) -> None:
        """Wait for a store that a cancelled job is still opening in a thread, so that it is closed too."""
        with self._opening:
            return

    async def aclose(self) -> None:
        """Cancel the running jobs and close the open stores; safe to call again."""
        await self.jobs.aclose()
        await asyncio.to_thread(self._await_opening)
        if session := self._session.opened:
            await session.aclose()
            self._session.opened = None
        if self._engine is not None:
            await self._engine.aclose()
            self._engine = self._memory.opened = None
        await self._savers.aclose()
        if database := self._database.opened:
            await asyncio.to_thread(database.close)
            self._database.opened = self._registry.opened = self._threads.opened = None
        if "models" in self.__dict__:
            await self.models.aclose()


@lru_cache(maxsize=1)
def process_services() -> Services:
    """Return the services of this process, created from its settings."""
    return Services(process_settings())
