"""The choice between running in this process and using a running server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from apps.cli.client.client import Client
from apps.cli.client.local import LocalClient
from apps.cli.client.remote import open_remote_client
from cognition.services import Services
from cognition.settings import Settings, process_settings
from cognition.storage.disk.folder_lock import FolderInUse


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncIterator[Client]:
    """Open a client: a local one if the home folder is free, else one for the server that holds it.

    Raises:
        FolderInUse: If the process that holds the home folder can't be reached over HTTP.
    """
    services = Services(settings)
    try:
        await asyncio.to_thread(services.hold)
    except FolderInUse as in_use:
        async with open_remote_client(in_use) as remote:
            yield remote
        return
    local = LocalClient(services)
    try:
        yield local
    finally:
        await local.aclose()


def run_once(request: Callable[[Client], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Open a client, send it one request and return the result."""

    async def send() -> dict[str, Any]:
        async with open_client(process_settings()) as client:
            return await request(client)

    return asyncio.run(send())
