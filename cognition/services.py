"""The stores and models of one process, each built when it is first asked for."""

import asyncio
from functools import cached_property, lru_cache

from cognition.embedding import load_embedder
from cognition.memory.engine import open_engine
from cognition.memory.long_term import LongTermMemory
from cognition.models import Models
from cognition.settings import Settings, process_settings


class Services:
    """What the steps of the graphs stand on. Nothing is loaded or opened before its first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._memory: LongTermMemory | None = None
        self._opening = asyncio.Lock()

    @cached_property
    def models(self) -> Models:
        """The chat models of the levels."""
        return Models(self.settings)

    async def memory(self) -> LongTermMemory:
        """The long-term memory of this folder.

        Raises:
            FolderInUse: Another process holds the folder.
            StampMismatch: The stored vectors are of another embedding model.
        """
        async with self._opening:
            if self._memory is None:
                embedder = await asyncio.to_thread(
                    load_embedder, self.settings.memory_embedding, self.settings.home
                )
                engine = await asyncio.to_thread(open_engine, self.settings.home)
                self._memory = await LongTermMemory.open(engine, embedder, self.settings, self.models)
        return self._memory

    async def aclose(self) -> None:
        """Close what was opened; safe to call again."""
        if self._memory is not None:
            await self._memory.aclose()
            self._memory = None


@lru_cache(maxsize=1)
def process_services() -> Services:
    """The services of this process, from its settings."""
    return Services(process_settings())
