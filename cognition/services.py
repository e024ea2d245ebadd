"""The stores and models of one process, each built when it is first asked for."""

import asyncio
from functools import cached_property, lru_cache
from threading import RLock

from cognition.concurrency.exclusive_runs import Claims
from cognition.concurrency.jobs import Jobs
from cognition.concurrency.locks import Locks
from cognition.embedding import load_embedder
from cognition.ingestion.intake import Intake
from cognition.memory.long_term.store import LongTermMemory
from cognition.memory.session.store import SessionMemory
from cognition.models.client import Models
from cognition.settings import Settings, process_settings
from cognition.storage.agent_threads import Threads
from cognition.storage.files import Files
from cognition.storage.resources import Registry
from cognition.storage.sqlite.checkpointer import ThreadSaver
from cognition.storage.sqlite.checkpointers import Savers
from cognition.storage.sqlite.database import Database
from cognition.vectors import VectorEngine, open_engine


class Services:
    """What the steps of the graphs stand on. Nothing is loaded or opened before its first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._engine: VectorEngine | None = None
        self._memory: LongTermMemory | None = None
        self._session: SessionMemory | None = None
        self._database: Database | None = None
        self._registry: Registry | None = None
        self._threads: Threads | None = None
        self._savers = Savers(settings.home)
        self._opening = RLock()  # of threads: steps may run on more than one event loop

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
        return await asyncio.to_thread(self._open_memory) if self._memory is None else self._memory

    def _open_memory(self) -> LongTermMemory:
        with self._opening:
            if self._memory is None:
                embedder = load_embedder(self.settings.memory_embedding, self.settings.home)
                opened = LongTermMemory.open(self.hold(), embedder, self.settings, self.models)
                self._memory = asyncio.run(opened)
            return self._memory

    async def session(self) -> SessionMemory:
        """The session memory of the chats of this folder.

        Raises:
            FolderInUse: Another process holds the folder.
            StampMismatch: The stored vectors are of another embedding model.
        """
        return await asyncio.to_thread(self._open_session) if self._session is None else self._session

    def _open_session(self) -> SessionMemory:
        with self._opening:
            if self._session is None:
                embedder = load_embedder(self.settings.session_embedding, self.settings.home)
                self._session = asyncio.run(SessionMemory.open(self.hold(), embedder, self._open_database()))
            return self._session

    async def database(self) -> Database:
        """The file that says what exists in this folder; several processes may hold it open."""
        return await asyncio.to_thread(self._open_database) if self._database is None else self._database

    def _open_database(self) -> Database:
        with self._opening:
            if self._database is None:
                self._database = Database(self.settings.home)
            return self._database

    async def registry(self) -> Registry:
        """The resources that were given to the chats of this folder."""
        if self._registry is None:
            self._registry = Registry(await self.database())
        return self._registry

    @cached_property
    def files(self) -> Files:
        """The copies of what was given to the chats of this folder."""
        return Files(self.settings.home)

    async def intake(self) -> Intake:
        """The way in for what is given to a chat."""
        return Intake(self.files, await self.registry(), self.settings)

    async def threads(self) -> Threads:
        """The index of the threads of sub-agents; only the process that holds the folder lets them work.

        Raises:
            FolderInUse: Another process holds the folder.
        """
        return await asyncio.to_thread(self._open_threads) if self._threads is None else self._threads

    def _open_threads(self) -> Threads:
        with self._opening:
            if self._threads is None:
                self.hold()
                self._threads = Threads(self._open_database())
            return self._threads

    @cached_property
    def claims(self) -> Claims:
        """The work on threads of sub-agents."""
        return Claims()

    @cached_property
    def closing(self) -> Locks:
        """Lets a chat be closed by one at a time."""
        return Locks()

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
        if self._session is not None:
            await self._session.aclose()
            self._session = None
        if self._engine is not None:
            await self._engine.aclose()
            self._engine = self._memory = None
        await self._savers.aclose()
        if self._database is not None:
            await asyncio.to_thread(self._database.close)
            self._database = self._registry = self._threads = None
        if "models" in self.__dict__:
            await self.models.aclose()


@lru_cache(maxsize=1)
def process_services() -> Services:
    """The services of this process, from its settings."""
    return Services(process_settings())
