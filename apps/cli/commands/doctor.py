"""The `cognition doctor` command, which checks the installation."""

import asyncio
import json
import os
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import typer
from langchain_core.messages import HumanMessage

from apps.cli.client.remote import open_remote_client
from apps.cli.terminal.view import printable
from cognition.embedding import EmbeddingUnavailable, load_embedder
from cognition.levels import LEVELS, Role
from cognition.models.client import Models
from cognition.models.outcome import Failure
from cognition.services import Services
from cognition.settings import Settings, process_settings
from cognition.storage.agent_threads import AGENTS
from cognition.storage.disk.folder_lock import FolderInUse, Holder, holder_of
from cognition.storage.disk.free_space import DiskFull
from cognition.storage.sqlite import checkpointer, database
from cognition.storage.sqlite.checkpointer import open_checkpointer
from cognition.text.plural import pluralize
from cognition.vectors import CorruptStore, StampMismatch

PACKAGES = (
    "langgraph",
    "langchain-core",
    "langchain-google-genai",
    "google-genai",
    "qdrant-edge-py",
    "numpy",
)
COUNT_CHATS = f"SELECT count(DISTINCT thread_id) FROM checkpoints WHERE thread_id NOT LIKE '{AGENTS}%'"
"""A query that counts the threads of chats, without those of sub-agents."""

OLDEST_SQLITE = (3, 38)
"""The first SQLite version that always includes the JSON functions, which pruning checkpoints requires."""

MODEL_SECONDS = 20.0
MODELS_REMEDY = "Correct GOOGLE_API_KEY or COGNITION_MODEL_…, or install the package of the provider."


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    ok: bool
    found: str
    mend: str = ""
    """The remedy, if the check failed."""


def run(*, as_json: bool) -> None:
    """Run all checks and print the results.

    Raises:
        typer.Exit: If a check failed.
    """
    checks = asyncio.run(_checks(process_settings()))
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False, indent=2))
    else:
        for check in checks:
            remedy = f"\n    → {check.mend}" if check.mend else ""
            typer.echo(printable(f"{'✓' if check.ok else '✗'} {check.name}: {check.found}{remedy}"))
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


async def _checks(settings: Settings) -> list[Check]:
    models = Models(settings)
    checks = [await asyncio.to_thread(_versions), _key(models), await _models(models)]
    await models.aclose()
    folder = await _folder(settings.home)
    embedding = await _embedding(settings)
    checks += [folder, embedding]
    if folder.ok and embedding.ok:
        checks += [await _memories(settings), await _threads(settings.home), await _register(settings.home)]
    return checks


def _versions() -> Check:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    found = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, {packages}"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        return Check("versions", False, found, f"Use a Python with SQLite {oldest} or newer.")
    return Check("versions", True, found)


def _key(models: Models) -> Check:
    if models.rehearsed:
        return Check("key", True, "not set; the models are rehearsed. Set GOOGLE_API_KEY for real answers")
    return Check("key", True, "set" if models.settings.google_api_key else "not needed")


async def _models(models: Models) -> Check:
    """Call each model once, because only a call shows whether the model exists and accepts the key."""
    roles: tuple[Role, ...] = (*LEVELS, "MODEL_DISTILLATION")
    found = ", ".join(f"{role} {models.name(role)}" for role in roles)
    distinct: Sequence[Role] = list({models.name(role): role for role in roles}.values())
    outcomes = await asyncio.gather(
        *(
            models.call(role, [HumanMessage("Answer with one word.")], seconds=MODEL_SECONDS)
            for role in distinct
        )
    )
    if failed := [outcome.sentence for outcome in outcomes if isinstance(outcome, Failure)]:
        return Check("models", False, f"{found}: {' '.join(failed)}", MODELS_REMEDY)
    return Check("models", True, found)


async def _folder(home: Path) -> Check:
    path = await asyncio.to_thread(os.path.abspath, home)
    try:
        holder = await asyncio.to_thread(_holder, home)
    except OSError as error:
        return Check("folder", False, f"{path}: {error}", "Set COGNITION_HOME to a writable folder.")
    if holder is None:
        return Check("folder", True, f"{path}, free")
    found = f"{path}, held by process {holder.pid}" + (f" at {holder.url}" if holder.url else "")
    try:
        async with open_remote_client(FolderInUse(home, holder)):
            return Check("folder", True, f"{found}, which responds")
    except FolderInUse as in_use:
        return Check("folder", not holder.url, found, str(in_use))


def _holder(home: Path) -> Holder | None:
    """Return the process that holds the home folder, if any. Create the folder if it is missing.

    Raises:
        OSError: If the folder is not writable.
    """
    home.mkdir(parents=True, exist_ok=True)
    if not os.access(home, os.W_OK | os.X_OK):
        raise PermissionError("not writable")
    return holder_of(home)


async def _embedding(settings: Settings) -> Check:
    name = settings.memory_embedding
    try:
        embedder = await asyncio.to_thread(load_embedder, name, settings.home)
    except EmbeddingUnavailable as error:
        return Check("embedding", False, name, str(error))
    stamp = embedder.stamp
    return Check("embedding", True, f"{name} ({stamp.model}, {stamp.revision}, {stamp.dims} dimensions)")


async def _memories(settings: Settings) -> Check:
    services = Services(settings)
    try:
        await services.memory()
    except FolderInUse as in_use:
        return Check("memories", True, f"not checked: they are open in process {in_use.holder.pid}")
    except StampMismatch as error:
        return Check("memories", False, "vectors of another embedding model", str(error))
    except (CorruptStore, DiskFull) as error:
        return Check("memories", False, "can't be opened", str(error))
    finally:
        await services.aclose()
    return Check("memories", True, "readable, with vectors of this embedding model")


async def _threads(home: Path) -> Check:
    try:
        async with open_checkpointer(home) as saver:
            rows = await saver.conn.execute_fetchall(COUNT_CHATS)
    except sqlite3.DatabaseError as error:
        return Check("threads", False, str(error), _move_away(home / checkpointer.FILE, "the chats"))
    return Check("threads", True, pluralize(next(iter(rows))[0], "chat"))


async def _register(home: Path) -> Check:
    try:
        files = await asyncio.to_thread(_count_files, home)
    except DiskFull as error:
        return Check("register", False, "can't be opened", str(error))
    except sqlite3.DatabaseError as error:
        remedy = _move_away(home / database.FILE, "the records of files, sources and sub-agents")
        return Check("register", False, str(error), remedy)
    return Check("register", True, pluralize(files, "file"))


def _count_files(home: Path) -> int:
    opened = database.Database(home)
    try:
        return int(opened.rows("SELECT count(*) FROM resources")[0][0])
    finally:
        opened.close()


def _move_away(path: Path, lost: str) -> str:
    return f"Move {str(path)!r} away. A new file will be created, without {lost} in the old one."
