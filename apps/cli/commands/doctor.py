"""What is wrong with this installation, and how to mend it."""

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
CHATS = f"SELECT count(DISTINCT thread_id) FROM checkpoints WHERE thread_id NOT LIKE '{AGENTS}%'"
"""The threads that somebody talks in, and no sub-agents'."""

OLDEST_SQLITE = (3, 38)
"""The first with JSON functions always built in, which the threads' file is pruned by."""

MODEL_SECONDS = 20.0
MEND_MODELS = "Correct GOOGLE_API_KEY or COGNITION_MODEL_…, or install the package of the provider."


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    mend: str = ""
    """What to do when it is not in order."""


def run(*, as_json: bool) -> None:
    """Check everything, and print it.

    Raises:
        typer.Exit: Something is wrong.
    """
    checks = asyncio.run(_checks(process_settings()))
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False, indent=2))
    else:
        for check in checks:
            mend = f"\n    → {check.mend}" if check.mend else ""
            typer.echo(printable(f"{'✓' if check.ok else '✗'} {check.name}: {check.found}{mend}"))
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
        return Check("versions", False, found, f"Use a Python whose SQLite is {oldest} or newer.")
    return Check("versions", True, found)


def _key(models: Models) -> Check:
    if models.rehearsed:
        return Check("key", True, "none: the models are rehearsed. Set GOOGLE_API_KEY for real answers")
    return Check("key", True, "set" if models.settings.google_api_key else "none is needed")


async def _models(models: Models) -> Check:
    """Each model is asked for a word: nothing else tells whether it is there and takes the key."""
    roles: tuple[Role, ...] = (*LEVELS, "MODEL_DISTILLATION")
    found = ", ".join(f"{role} {models.name(role)}" for role in roles)
    asked: Sequence[Role] = list({models.name(role): role for role in roles}.values())
    outcomes = await asyncio.gather(
        *(models.call(role, [HumanMessage("Answer with one word.")], seconds=MODEL_SECONDS) for role in asked)
    )
    if failed := [outcome.sentence for outcome in outcomes if isinstance(outcome, Failure)]:
        return Check("models", False, f"{found}: {' '.join(failed)}", MEND_MODELS)
    return Check("models", True, found)


async def _folder(home: Path) -> Check:
    shown = await asyncio.to_thread(os.path.abspath, home)
    try:
        holder = await asyncio.to_thread(_holder, home)
    except OSError as error:
        return Check("folder", False, f"{shown}: {error}", "Set COGNITION_HOME to a folder you may write to.")
    if holder is None:
        return Check("folder", True, f"{shown}, free")
    found = f"{shown}, held by process {holder.pid}" + (f" at {holder.url}" if holder.url else "")
    try:
        async with open_remote_client(FolderInUse(home, holder)):
            return Check("folder", True, f"{found}, which answers")
    except FolderInUse as taken:
        return Check("folder", not holder.url, found, str(taken))


def _holder(home: Path) -> Holder | None:
    """Who holds the folder, if it is one that can be written to."""
    home.mkdir(parents=True, exist_ok=True)
    if not os.access(home, os.W_OK | os.X_OK):
        raise PermissionError("it can't be written to")
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
    except FolderInUse as taken:
        return Check("memories", True, f"not opened, process {taken.holder.pid} has them open")
    except StampMismatch as error:
        return Check("memories", False, "of another embedding model", str(error))
    except (CorruptStore, DiskFull) as error:
        return Check("memories", False, "not to be opened", str(error))
    finally:
        await services.aclose()
    return Check("memories", True, "they open, and their vectors are of this embedding model")


async def _threads(home: Path) -> Check:
    try:
        async with open_checkpointer(home) as saver:
            rows = await saver.conn.execute_fetchall(CHATS)
    except sqlite3.DatabaseError as error:
        return Check("threads", False, str(error), _aside(home / checkpointer.FILE, "the chats"))
    return Check("threads", True, pluralize(next(iter(rows))[0], "chat"))


async def _register(home: Path) -> Check:
    try:
        files = await asyncio.to_thread(_registered, home)
    except DiskFull as error:
        return Check("register", False, "not to be opened", str(error))
    except sqlite3.DatabaseError as error:
        mend = _aside(home / database.FILE, "what is known of files, sources and sub-agents")
        return Check("register", False, str(error), mend)
    return Check("register", True, pluralize(files, "file"))


def _registered(home: Path) -> int:
    opened = database.Database(home)
    try:
        return int(opened.rows("SELECT count(*) FROM resources")[0][0])
    finally:
        opened.close()


def _aside(path: Path, lost: str) -> str:
    return f"Put {str(path)!r} aside: a new one is made, and {lost} in the old one are lost."
