"""The stores and models of one process, each built when it is first asked for."""

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
    """A store that is opened in a thread when it is first asked for.

    Args:
        build: Opens the store; blocking.
        opening: The lock of all stores of the process: steps may run on more than one event loop.
    """

    def __init__(self, build: Callable[[], T], opening: RLock) -> None:
        self._build = build
        self._opening = opening
        self.opened: T | None = None

    async def get(self) -> T:
        """Return the store, opened in a thread if need be."""
        return self.opened if self.opened is not None else await asyncio.to_thread(self.open)

    def open(self) -> T:
        """Return the store; blocking."""
        with self._opening:
            if self.opened is None:
                self.opened = self._build()
            return self.opened


class Services:
    """The stores and models the graphs work on. Nothing is loaded or opened before its first use."""

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
        """The work that goes on after a run."""
        return Jobs()

    @cached_property
    def models(self) -> Models:
        """The chat models of the levels."""
        return Models(self.settings)

    def hold(self, url: str = "") -> VectorEngine:
        """Take the folder, so that no other process opens what it holds; blocking.

        Args:
            url: Where this process's HTTP API answers, for those that come second.

        Raises:
            FolderInUse: Another process holds the folder.
        """
        with self._opening:
            if self._engine is None:
                self._engine = open_engine(self.settings.home, url)
            return self._engine

    async def memory(self) -> LongTermMemory:
        """The long-term memory of this folder.

        Raises:
            FolderInUse: Another process holds the folder.
            StampMismatch: The stored vectors are of another embedding model.
        """
        return await self._memory.get()

    def _open_memory(self) -> LongTermMemory:
        embedder = load_embedder(self.settings.memory_embedding, self.settings.home)
        return asyncio.run(LongTermMemory.open(self.hold(), embedder, self.settings, self.models))

    async def session(self) -> SessionMemory:
        """The session memory of the chats of this folder.

        Raises:
            FolderInUse: Another process holds the folder.
            StampMismatch: The stored vectors are of another embedding model.
        """
        return await self._session.get()

    def _open_session(self) -> SessionMemory:
        embedder = load_embedder(self.settings.session_embedding, self.settings.home)
        return asyncio.run(SessionMemory.open(self.hold(), embedder, self._database.open()))

    async def database(self) -> Database:
        """The file that says what exists in this folder; several processes may hold it open."""
        return await self._database.get()

    async def registry(self) -> ResourceTable:
        """The resources that were given to the chats of this folder."""
        return await self._registry.get()

    @cached_property
    def files(self) -> Files:
        """The copies of what was given to the chats of this folder."""
        return Files(self.settings.home)

    async def threads(self) -> AgentThreadTable:
        """The index of the threads of sub-agents; only the process that holds the folder lets them work.

        Raises:
            FolderInUse: Another process holds the folder.
        """
        return await self._threads.get()

    def _open_threads(self) -> AgentThreadTable:
        self.hold()
        return AgentThreadTable(self._database.open())

    @cached_property
    def agent_runs(self) -> ExclusiveRuns:
        """The runs of sub-agents, by thread; those of one chat are a group."""
        return ExclusiveRuns()

    @cached_property
    def closing(self) -> KeyedLocks:
        """Lets a chat be closed by one at a time."""
        return KeyedLocks()

    async def checkpointer(self) -> ThreadSaver:
        """What keeps the threads of this folder, on this event loop."""
        return await self._savers.saver()

    def _await_opening(self) -> None:
        """Wait for what a thread is still opening, for a job that was given up, so that it is closed too."""
        with self._opening:
            return

    async def aclose(self) -> None:
        """Give up what still runs, and close what was opened; safe to call again."""
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
    """The services of this process, from its settings."""
    return Services(process_settings())
