"""The choice between this process and a running server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from apps.cli.client.client import Client
from cognition.services import Services
from cognition.settings import Settings, process_settings
from cognition.storage.disk.folder_lock import FolderInUse


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncIterator[Client]:
    """The session over the folder of the settings.

    Raises:
        FolderInUse: A process holds the folder that can't be reached over HTTP.
    """
    from apps.cli.client.local import LocalClient  # noqa: PLC0415  # they import the events above
    from apps.cli.client.remote import open_remote_client  # noqa: PLC0415

    services = Services(settings)
    try:
        await asyncio.to_thread(services.hold)
    except FolderInUse as taken:
        async with open_remote_client(taken) as remote:
            yield remote
        return
    local = LocalClient(services)
    try:
        yield local
    finally:
        await local.aclose()


def run_once(question: Callable[[Client], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Ask one thing of the folder of the settings, and wait for the answer."""

    async def ask() -> dict[str, Any]:
        async with open_client(process_settings()) as session:
            return await question(session)

    return asyncio.run(ask())
